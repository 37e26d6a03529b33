"""The SQL constructs and functions that a statement may use: those that only read and compute. All others are refused.

Constructs are listed by their sqlglot class, other functions by name for each engine. Functions that create large
values from small ones (`repeat`, `generate_series`) are left out on purpose, like all that write, wait or access files
and the network.
"""

from collections.abc import Mapping
from typing import Final

_SHAPE: Final = """
    Alias Aliases All Any Between Boolean Bracket Column Cube CTE Distinct Dot Escape Except Exists Fetch Filter
    From Group GroupingSets Having Identifier IgnoreNulls In Intersect Interval Join Lateral Limit LimitOptions Literal
    Null Offset Order Ordered Paren Qualify RespectNulls Rollup Select Slice Star Subquery Table TableAlias Tuple Union
    Unnest Values Var Where Window WindowSpec With WithinGroup DataType DataTypeParam IntervalSpan
"""
_OPERATORS: Final = """
    Add And AtTimeZone BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor Case Cast Collate
    DPipe Div EQ GT GTE Glob ILike If IntDiv Is LT LTE Like Mod Mul NEQ Neg Not NullSafeEQ NullSafeNEQ Or Overlaps
    RegexpILike RegexpLike SimilarTo Sub TryCast Xor
"""
_AGGREGATES: Final = """
    AnyValue ApproxDistinct ArgMax ArgMin ArrayAgg Avg Corr Count CountIf CovarPop CovarSamp CumeDist DenseRank First
    FirstValue GroupConcat Grouping Kurtosis Lag Last LastValue Lead List LogicalAnd LogicalOr Max Median Min Mode
    NthValue Ntile PercentRank PercentileCont PercentileDisc Quantile Rank RowNumber Skewness Stddev StddevPop
    StddevSamp Sum Variance VariancePop
"""
_NUMBERS: Final = """
    Abs Acos Asin Atan Atan2 Cbrt Ceil Cos Degrees Exp Floor Greatest IsInf IsNan Least Ln Log Pi Pow Radians Rand Round
    SafeDivide Sign Sin Sqrt Tan Trunc WidthBucket
"""
_TEXTS: Final = """
    Ascii Chr Coalesce Concat ConcatWs Contains EndsWith Hex Initcap Left Length Levenshtein Lower MD5 Nullif
    NumberToStr RegexpCount RegexpExtract RegexpReplace RegexpSplit RegexpSubstr Replace Reverse Right Split SplitPart
    StartsWith StrPosition StringToArray Substring ToChar ToNumber Translate Trim Typeof Unicode Upper
"""
_MOMENTS: Final = """
    AddMonths CurrentDate CurrentDatetime CurrentTime CurrentTimestamp Date DateAdd DateDiff DateFromParts DateSub
    DateTrunc Datetime DatetimeAdd DatetimeDiff DatetimeSub DatetimeTrunc Day DayOfMonth DayOfWeek DayOfWeekIso
    DayOfYear Dayname Extract Hour LastDay Localtime Localtimestamp MakeInterval Minute Month Monthname Quarter Second
    StrToDate StrToTime StrToUnix Time TimeStrToDate TimeStrToTime TimeToStr TimeToUnix TimeTrunc Timestamp TimestampAdd
    TimestampDiff TimestampSub TimestampTrunc TsOrDsAdd TsOrDsDiff TsOrDsToDate TsOrDsToDateStr TsOrDsToDatetime
    TsOrDsToTime TsOrDsToTimestamp UnixSeconds UnixToTime Week WeekOfYear Year
"""
_NESTED: Final = """
    Array ArrayContains ArrayContainedBy ArrayContainsAll ArrayDistinct ArrayOverlaps ArrayPosition ArraySize ArraySort
    ArrayToString Explode JSONArray JSONArrayAgg JSONBContains JSONBContainsTopKey JSONBExtract JSONBExtractScalar
    JSONExtract JSONExtractScalar JSONKeys JSONObject JSONObjectAgg JSONPath JSONPathKey JSONPathRoot JSONPathSubscript
    JSONPathWildcard JSONType JSONValue JSONKeyValue ParseJSON Struct StructExtract PropertyEQ
"""

CONSTRUCTS: Final = frozenset(
    f"{_SHAPE} {_OPERATORS} {_AGGREGATES} {_NUMBERS} {_TEXTS} {_MOMENTS} {_NESTED}".lower().split()
)

_SQLITE: Final = """
    date time datetime julianday strftime unixepoch timediff ifnull iif instr printf total likely unlikely quote
    char glob like json json_array json_array_length json_each json_extract json_group_array json_group_object
    json_object json_quote json_tree json_type json_valid group_concat string_agg substr typeof unicode round
"""
_POSTGRES: Final = """
    age array_length array_to_json array_upper array_lower bit_length bool_and bool_or btrim cardinality char_length
    character_length date_part div every isfinite json_agg json_array_elements json_array_elements_text
    json_array_length json_build_object json_each json_each_text json_object_agg json_object_keys json_typeof jsonb_agg
    jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_object jsonb_each jsonb_each_text
    jsonb_object_agg jsonb_object_keys jsonb_typeof justify_days justify_hours justify_interval make_date
    make_timestamp mod num_nonnulls num_nulls octet_length position regexp_match row row_to_json scale
    statement_timestamp to_date to_json to_jsonb to_timestamp ts_rank to_tsvector plainto_tsquery
"""
_DUCKDB: Final = """
    age array_length bool_and bool_or century char_length date_part dayname datepart datesub date_sub decade epoch
    epoch_ms even favg fsum geomean histogram isfinite isodow isoyear json_array_length json_extract_string json_keys
    json_type json_valid len list_aggregate list_contains list_distinct list_sort list_sum list_value mad make_date
    make_timestamp max_by min_by mod monthname product regexp_full_match regexp_matches row sem strlen strptime
    struct_pack to_timestamp try_strptime union_extract weekday yearweek
"""
_OTHERS: Final = "char_length date_format dateadd datediff datename datepart field ifnull instr isnull len mod nvl"

FUNCTIONS: Final[Mapping[str, frozenset[str]]] = {
    "sqlite": frozenset(_SQLITE.split()),
    "postgres": frozenset(_POSTGRES.split()),
    "duckdb": frozenset(_DUCKDB.split()),
}
OTHER_FUNCTIONS: Final = frozenset(_OTHERS.split())

_BUILT_INTO_SQLITE: Final = """
    abs acos asin atan atan2 avg ceil ceiling coalesce concat concat_ws cos count cume_dist current_date
    current_time current_timestamp degrees dense_rank exp first_value floor hex lag last_value lead length ln log log10
    log2 lower ltrim max min mod nth_value ntile nullif percent_rank pi pow power radians random rank replace row_number
    rtrim sign sin sqrt substring sum tan trim trunc upper -> ->>
"""
SQLITE_FUNCTIONS: Final = FUNCTIONS["sqlite"] | frozenset(_BUILT_INTO_SQLITE.split())
"""The same list for SQLite's authorizer, which sees the names that SQLite itself resolves."""

SQLGLOT_DIALECTS: Final[Mapping[str, str]] = {
    "mysql": "mysql",
    "mariadb": "mysql",
    "mssql": "tsql",
    "oracle": "oracle",
    "sqlite": "sqlite",
    "redshift": "redshift",
    "snowflake": "snowflake",
    "bigquery": "bigquery",
    "clickhouse": "clickhouse",
    "trino": "trino",
}
"""sqlglot dialect by SQLAlchemy dialect."""

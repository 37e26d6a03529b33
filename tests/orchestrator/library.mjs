// A researcher written in another language: an MCP server over stdio that keeps the research contract.
// LIBRARY_MODE says how it behaves: well, dead (dies in the middle of a call), hanging, strange (an answer that breaks
// the contract), newer (speaks another version of it).
import { createInterface } from "node:readline";

const mode = process.env.LIBRARY_MODE ?? "well";
const excerpt = "The Alder Bridge was opened in 1931 by the engineer Maud Ferris.";
const tool = {
  name: "research",
  description: "Answers from the catalogue of a library.",
  inputSchema: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
  _meta: { "marchwarden/contract": mode === "newer" ? "v9" : "v1" },
};
const answer = {
  answer: `${excerpt} [1]`,
  citations: [
    { source: "library", locator: "shelf:12/7", title: "Bridges of the Senn", raw_excerpt: excerpt, confidence: 0.9 },
  ],
  gaps: [],
  discovery_events: [],
  open_questions: [],
  confidence: mode === "strange" ? 7 : 0.8,
  confidence_factors: {
    num_corroborating_sources: 1,
    source_authority: "high",
    contradiction_detected: false,
    query_specificity_match: 0.9,
    budget_exhausted: false,
    recency: null,
  },
  cost_metadata: {
    tokens_used: 40, iterations_run: 1, wall_time_sec: 0.1, budget_exhausted: false, model_id: "card-index",
  },
  trace_id: "card-4711",
};

function reply(id, result) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") {
    const serverInfo = { name: "library", version: "1.0.0" };
    reply(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo });
  } else if (method === "tools/list") {
    reply(id, { tools: [tool] });
  } else if (method === "tools/call" && mode === "dead") {
    process.exit(3);
  } else if (method === "tools/call" && mode !== "hanging") {
    reply(id, { content: [{ type: "text", text: answer.answer }], structuredContent: answer });
  } else if (id !== undefined && method !== "tools/call") {
    const error = { code: -32601, message: `unknown method ${method}` };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`);
  }
}

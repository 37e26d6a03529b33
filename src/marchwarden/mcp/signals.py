"""Stopping: how a server hears that it should end. Knows no transport."""

import signal
import threading

import anyio


async def stop_signal() -> None:
    """Wait for SIGINT or SIGTERM. Only a main thread hears signals; elsewhere whoever started it cancels it."""
    if threading.current_thread() is not threading.main_thread():
        await anyio.sleep_forever()
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            return

"""No-op jobs of peers that keep them in PostgreSQL: workflows of DBOS, tasks of procrastinate."""

import time

import procrastinate
from dbos import DBOS
from postgres_server import PostgresServer

CONCURRENCY = 256


async def dbos_jobs(server: PostgresServer, jobs: int) -> float:
    """Workflows that return at once, through a queue of one process."""
    with server.database() as url:
        config = {"name": "bench", "system_database_url": url, "log_level": "ERROR"}
        DBOS(config=config)

        @DBOS.workflow()
        async def nothing(number: int) -> int:
            return number

        DBOS.launch()
        await DBOS.register_queue_async("bench", polling_interval_sec=0.1)
        try:
            begun = time.perf_counter()
            handles = [
                await DBOS.enqueue_workflow_async("bench", nothing, number)
                for number in range(jobs)
            ]
            for handle in handles:
                await handle.get_result()
            return jobs / (time.perf_counter() - begun)
        finally:
            DBOS.destroy()


async def procrastinate_jobs(server: PostgresServer, jobs: int) -> float:
    """Jobs that return at once, through one worker."""
    with server.database() as url:
        connector = procrastinate.PsycopgConnector(conninfo=url)
        app = procrastinate.App(connector=connector)

        @app.task(name="nothing")
        async def nothing(number: int) -> int:
            return number

        async with app.open_async():
            await app.schema_manager.apply_schema_async()
            begun = time.perf_counter()
            await nothing.batch_defer_async(*({"number": number} for number in range(jobs)))
            await app.run_worker_async(wait=False, concurrency=CONCURRENCY)
            return jobs / (time.perf_counter() - begun)


WAYS = (("DBOS queue", dbos_jobs), ("procrastinate", procrastinate_jobs))

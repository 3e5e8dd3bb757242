// The image's HEALTHCHECK: exits with 0 when this instance is ready for requests, else with 1 and one line.
const url = `http://127.0.0.1:${process.env.INTERNAL_PORT || 8081}/readyz`;
try {
  const { status } = await fetch(url, { signal: AbortSignal.timeout(4_000) });
  if (status !== 200) throw new Error(`status ${status}`);
} catch (error) {
  console.error(`${url}: ${error.cause?.code ?? error.message}`);
  process.exitCode = 1;
}

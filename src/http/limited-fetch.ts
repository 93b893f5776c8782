import { isNestedTooDeep, nestedTooDeepText } from '../schema/json-depth.ts';

/** Size limit of a response, in bytes. */
const MAX_BYTES = 1024 * 1024;

/**
 * Sends a request to another service and reads its whole response. Throws if both together take more than `timeoutMs`, or if the
 * response has more than 1 MB, or is JSON that is nested too deep.
 */
export async function fetchLimited(url: string, request: RequestInit, timeoutMs: number): Promise<Response> {
  const answer = await fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMs) });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the rest of the response.
    if (bytes > MAX_BYTES) throw new Error(`${url} answers more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (isDeepJson(body)) throw new Error(`the answer of ${url} ${nestedTooDeepText}`);
  const { status, headers } = answer;
  return new Response(bytes > 0 ? body : null, { status, headers });
}

function isDeepJson(body: Buffer): boolean {
  try {
    return isNestedTooDeep(JSON.parse(body.toString()));
  } catch {
    // The caller refuses what is not JSON.
    return false;
  }
}

/** Requests to `/v1/sys` while clusters are being set up. */
import { setTimeout as delay } from 'node:timers/promises';

/** Between two looks at a cluster, whose state can only be asked for. */
const PAUSE_MS = 100;
/** A first copy between busy containers. */
const PATIENCE_MS = 180_000;

// oxlint-disable-next-line typescript/no-explicit-any -- documents of several routes
type Document = any;

/** @throws Error with the refusal of the server */
export const sys = async (
  url: string,
  token: string,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: object,
): Promise<Document> => {
  const response = await fetch(`${url}/v1/sys/${path}`, {
    method,
    headers: token === '' ? {} : { 'x-service-token': token },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} sys/${path}: ${response.status} ${text}`);
  return text === '' ? undefined : JSON.parse(text);
};

/** @throws Error when it is not so within three minutes, with the last error or answer */
export const until = async <T>(
  what: string,
  ask: () => Promise<T>,
  isWanted: (answer: T) => boolean,
): Promise<T> => {
  const end = Date.now() + PATIENCE_MS;
  let last: unknown;
  while (Date.now() < end) {
    try {
      const answer = await ask();
      if (isWanted(answer)) return answer;
      last = answer;
    } catch (error) {
      last = error;
    }
    await delay(PAUSE_MS);
  }
  throw new Error(`${what}: not within ${PATIENCE_MS / 1000} s`, { cause: last });
};

/** A root token of a cluster, made from the key shares that are valid there. */
export const generateRoot = async (url: string, shares: readonly string[]): Promise<string> => {
  const started = await sys(url, '', 'POST', 'generate-root/attempt', {});
  let encoded = '';
  for (const key of shares.slice(0, started.required)) {
    const body = { key, nonce: started.nonce };
    encoded = (await sys(url, '', 'POST', 'generate-root/update', body)).encoded_token;
  }
  const password = Buffer.from(started.otp);
  return Buffer.from(encoded, 'base64')
    .map((byte, index) => byte ^ (password[index] ?? 0))
    .toString();
};

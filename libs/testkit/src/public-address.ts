import { findFreePort } from './free-port.ts';

/**
 * Settings of a server whose public address is its plain HTTP address on this machine. Without a public address it
 * registers no webhook and reports no commit status.
 */
export const publicAddress = async (): Promise<Readonly<Record<string, string>>> => {
  const port = await findFreePort();
  return { KEELSON_HTTP_PORT: String(port), KEELSON_PUBLIC_URL: `http://127.0.0.1:${port}` };
};

/** Tokens that holders of key shares make together. */
import { CliFailure } from '../client/failure.ts';
import { readSecret } from '../client/terminal.ts';
import type { Cli } from './cli.ts';

/**
 * Makes a token from the key shares on standard input, one per line, and prints it. The attempt is cancelled if it
 * cannot be completed, because it would block the next one.
 * @param path of the ceremony, such as `sys/generate-root`
 * @throws CliFailure
 */
export const makeToken = async (cli: Cli, path: string): Promise<void> => {
  const { client } = cli;
  const shares = (await readSecret('Key shares, one a line')).split(/\s+/);
  const anonymous = { method: 'POST', isAnonymous: true } as const;
  const started = await client.v1(`${path}/attempt`, { ...anonymous, body: {} });
  let answer = started;
  /** A share that the cluster has accepted, with which the attempt can be cancelled. */
  let accepted: string | undefined;
  try {
    for (const key of shares) {
      if (answer.complete === true) break;
      const body = { key, nonce: started.nonce };
      answer = await client.v1(`${path}/update`, { ...anonymous, body });
      accepted = key;
    }
    if (answer.complete !== true)
      throw new CliFailure(
        `${shares.length} shares were given, ${answer.required} are needed. Nothing was made.`,
      );
  } catch (error) {
    const body = { nonce: started.nonce, key: accepted };
    await client
      .v1(`${path}/attempt`, { method: 'DELETE', isAnonymous: true, body })
      .catch(() => undefined);
    throw error;
  }
  const mixed = Buffer.from(answer.encoded_token, 'base64');
  const token = Buffer.from(
    mixed.map((byte, at) => byte ^ String(started.otp).charCodeAt(at)),
  ).toString();
  cli.print({ token }, token);
};

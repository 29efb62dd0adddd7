/** Steps of operators that several tests take, on a cluster with one key share. */
import type { SysHarness } from './sys-harness.ts';

/** The token of the ceremony at `path`, from the share that counts there. */
export const ceremonyToken = async (
  cluster: SysHarness,
  path: string,
  key: string,
): Promise<string> => {
  const { body: started } = await cluster.call('POST', `${path}/attempt`);
  const { body } = await cluster.call('POST', `${path}/update`, {
    body: { key, nonce: started.nonce },
  });
  const mixed = Buffer.from(body.encoded_token, 'base64');
  return Buffer.from(mixed.map((byte, at) => byte ^ started.otp.charCodeAt(at))).toString();
};

export const operationToken = (cluster: SysHarness, key: string): Promise<string> =>
  ceremonyToken(cluster, 'sys/replication/dr/secondary/generate-operation-token', key);

/** Moves the clock of a cluster until `asked` is there: a primary that steps back waits by it. */
export const whileTimeGoesOn = async <T>(cluster: SysHarness, asked: Promise<T>): Promise<T> => {
  let isThere = false;
  const done = asked.finally(() => {
    isThere = true;
  });
  done.catch(() => undefined);
  while (!isThere) {
    cluster.clock.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return done;
};

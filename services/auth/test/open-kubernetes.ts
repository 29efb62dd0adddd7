/** Mounts of the method kubernetes, whose cluster has an API server that a test controls. */
import { temporaryDirectory } from '@keelson/testkit';
import { startKubernetesApi } from '@keelson/testkit/kubernetes-api';
import { expect } from 'vitest';
import { mountOf, openAuth } from './open-auth.ts';

export const REVIEWER = 'reviewer.token.of-a-test';

/** A role of the account web in the namespace shop. */
export const SOUND = {
  bound_service_account_names: 'web',
  bound_service_account_namespaces: 'shop',
  audience: 'keelson',
} as const;

export const DENIED = [403, 'permission denied'];
export const AWAY = [400, 'the API server of Kubernetes cannot be asked at the moment'];

export const openKubernetes = async () => {
  const pod = await temporaryDirectory();
  const auth = await openAuth({ outboundRanges: ['127.0.0.0/8'], podFolder: pod.path });
  const api = await startKubernetesApi();
  api.reviewers.add(REVIEWER);
  let serial = 0;
  let mount = mountOf('kubernetes');
  /** Nothing that is answered or logged has the token of the reviewer. */
  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await auth.call('kubernetes', method, path, body, { mount });
    if (`${auth.logged.join('')}${JSON.stringify(answer.json)}`.includes(REVIEWER))
      throw new Error('the token of the reviewer is shown');
    return answer;
  };
  return {
    auth,
    api,
    /** The folder of the pod in which the service runs. */
    podFolder: pod.path,
    call,
    /** A mount without anything, which later calls are for. */
    nextMount: () => {
      serial += 1;
      mount = mountOf('kubernetes', `8f0b1c1e-0000-4000-8000-${String(serial).padStart(12, '0')}`);
      auth.logins.length = 0;
      auth.logged.length = 0;
      api.asked.length = 0;
      api.answer = undefined;
    },
    configure: async (settings: object = {}): Promise<void> => {
      const config = {
        kubernetes_host: api.url,
        kubernetes_ca_cert: api.caPem,
        token_reviewer_jwt: REVIEWER,
        ...settings,
      };
      expect((await call('POST', 'config', config)).status).toBe(204);
    },
    makeRole: async (settings: object = {}): Promise<void> => {
      expect((await call('POST', 'role/web', { ...SOUND, ...settings })).status).toBeLessThan(300);
    },
    /** The status of a login, with the text of a refusal, of which sys does not learn. */
    logIn: async (jwt: string, role = 'web'): Promise<readonly unknown[]> => {
      auth.logins.length = 0;
      const { status, json } = await call('POST', 'login', { role, jwt });
      expect(auth.logins).toHaveLength(status === 200 ? 1 : 0);
      return [status, ...(json.errors ?? [])];
    },
    tokenOf: (account = 'shop/web', audience = 'keelson', claims: object = {}): string =>
      api.issue(account, [audience], claims),
    /** Lifetime that the token of the last login may have now. */
    renew: async (): Promise<number | undefined> => {
      const loginData = auth.logins[0]?.loginData ?? Buffer.alloc(0);
      return (await auth.renew(mount, loginData))?.ttlSeconds;
    },
    close: async () => {
      await auth.close();
      await api.stop();
      await pod[Symbol.asyncDispose]();
    },
  };
};

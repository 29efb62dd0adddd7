/** R4 for the certificate authority: damaged DER, CSRs, PEM and parameters through its whole service. */
import { temporaryDirectory } from '@keelson/testkit';
import {
  type AuthorityAnswer,
  type InProcessAuthority,
  openAuthority,
} from '../../in-process-authority.ts';
import type { Chaos, ChaosContext, ChaosReport } from '../chaos.ts';
import { type Outcome, tryInputs } from '../inputs.ts';
import { LIVE_MEMORY } from '../memory.ts';
import { badRequest, makeSamples } from './requests.ts';

/** Number of requests after which accepted objects are deleted, so that the authority stays small. */
const CLEAN_EVERY = 2000;

const setUp = async (authority: InProcessAuthority): Promise<void> => {
  const root = { common_name: 'Root', ttl: '87600h', key_type: 'ec' };
  await authority.call('POST', 'root/generate/internal', root);
  const role = { allow_any_name: true, enforce_hostnames: false, key_type: 'any', no_store: true };
  await authority.call('POST', 'roles/unstored', {
    ...role,
    allowed_uri_sans: '*',
    allowed_other_sans: '*',
  });
};

const judge = ({ status, body }: AuthorityAnswer): Outcome => {
  const isRefused = status >= 400 && status < 500;
  return {
    kind: `answered ${status}`,
    broken:
      status === 200 || status === 204 || isRefused
        ? undefined
        : `${status} ${Buffer.from(body).toString().slice(0, 300)}`,
  };
};

const run = async (authority: InProcessAuthority, context: ChaosContext): Promise<ChaosReport> => {
  const requests = badRequest(await makeSamples());
  return tryInputs(context, {
    begin: async () => {
      await authority.call('DELETE', 'root');
      await setUp(authority);
      return requests;
    },
    block: CLEAN_EVERY,
    send: async ({ method, path, body }) => judge(await authority.send(method, path, body)),
    show: (request) => JSON.stringify(request),
    memory: LIVE_MEMORY,
  });
};

export const pkiInput: Chaos = {
  name: 'pki-input',
  promise:
    'bad DER, CSRs, PEM and parameters are refused: no crash, no 5xx, no answer over 1 s, memory flat (R4)',
  unit: 'inputs',
  counts: { full: 1_000_000, short: 1500 },
  run: async (context) => {
    await using folder = await temporaryDirectory();
    const authority = await openAuthority(folder.path);
    try {
      await setUp(authority);
      return await run(authority, context);
    } finally {
      await authority.close();
    }
  },
};

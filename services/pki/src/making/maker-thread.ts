/** Entry of a maker thread: certificates in the order they were asked for, results some at a time. */
import { setImmediate } from 'node:timers';
import { parentPort } from 'node:worker_threads';
import type { SigningIssuer } from '../issuers/domain/signing-issuer.ts';
import type { Role } from '../roles/domain/role.ts';
import { toRefusal } from '../threads/refusal.ts';
import { makeCertificate } from './make-certificate.ts';
import type { DefinitionId, FromThread, Job, JobResult, ToThread } from './thread-messages.ts';

/** The answering thread goes on with these while the next are made. */
const RESULTS_PER_MESSAGE = 8;

const issuers = new Map<DefinitionId, SigningIssuer>();
const roles = new Map<DefinitionId, Role>();
const jobs: Job[] = [];
let results: JobResult[] = [];
let isWorking = false;

const say = (message: FromThread): void => parentPort?.postMessage(message);

const sayResults = (): void => {
  if (results.length === 0) return;
  say(results);
  results = [];
};

const perform = async ({ id, issuerId, roleId, order }: Job): Promise<void> => {
  const issuer = issuers.get(issuerId);
  if (issuer === undefined) throw new Error('a job names an issuer that was not told');
  const result = await makeCertificate(issuer, roles.get(roleId), order).then(
    (made): JobResult => ({ id, made }),
    (thrown: unknown): JobResult => ({ id, refusal: toRefusal(thrown) }),
  );
  results.push(result);
  if (results.length >= RESULTS_PER_MESSAGE) sayResults();
  // Comes when nothing else is to be done at once: after the last of a batch, or a key from the pool.
  else if (results.length === 1) setImmediate(sayResults);
};

/** RSA keys are made and used on the thread pool, many at a time; everything else takes its turn here. */
const usesThreadPool = ({ issuerId, roleId, order }: Job): boolean =>
  issuers.get(issuerId)?.privateKey.asymmetricKeyType === 'rsa' ||
  (order.kind === 'issue' && (roles.get(roleId)?.keyType === 'rsa' || order.key.type === 'rsa'));

const work = async (): Promise<void> => {
  isWorking = true;
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
    const performing = perform(job);
    if (!usesThreadPool(job)) await performing;
  }
  isWorking = false;
};

parentPort?.on('message', (message: ToThread) => {
  for (const [id, issuer] of message.issuers) issuers.set(id, issuer);
  for (const [id, role] of message.roles) roles.set(id, role);
  jobs.push(...message.jobs);
  for (const id of message.forgotten) {
    issuers.delete(id);
    roles.delete(id);
  }
  if (!isWorking) void work();
});

say('up');

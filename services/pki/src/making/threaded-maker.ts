/**
 * Certificates made on threads of their own. Orders of one turn of the event loop
 * go to a thread in one message. Threads are started by the first order, which itself, like all others
 * until a thread is up, is done at once on the calling thread.
 */
import { Worker } from 'node:worker_threads';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { SigningIssuer } from '../issuers/domain/signing-issuer.ts';
import type { Role } from '../roles/domain/role.ts';
import { toThrown } from '../threads/refusal.ts';
import type { CertificateMaker } from './certificate-maker.ts';
import {
  type CertificateOrder,
  type MadeCertificate,
  makeCertificate,
} from './make-certificate.ts';
import {
  type DefinitionId,
  type FromThread,
  type Job,
  type JobResult,
  type ToThread,
} from './thread-messages.ts';

const ENTRY = new URL('./maker-thread.ts', import.meta.url);

/** Orders waiting at each thread before one more thread is started. */
const BUSY_COUNT = 32;

interface Waiting {
  /** Held until the answer, so that the thread is not told to forget them. */
  readonly issuer: SigningIssuer;
  readonly role: Role | undefined;
  readonly resolve: (made: MadeCertificate) => void;
  readonly reject: (thrown: unknown) => void;
}

class MakerThread {
  readonly #worker = new Worker(ENTRY, { name: 'certificate-maker' });
  readonly #waiting = new Map<number, Waiting>();
  readonly #told = new Set<DefinitionId>();
  readonly #up = Promise.withResolvers<void>();
  #issuers: [DefinitionId, SigningIssuer][] = [];
  #roles: [DefinitionId, Role][] = [];
  #jobs: Job[] = [];
  #forgotten: DefinitionId[] = [];
  #lastId = 0;
  isUp = false;

  /** @param onEnd called once, with the cause when the thread ended by itself */
  constructor(onEnd: (thread: MakerThread, cause: unknown) => void) {
    const end = (cause: unknown): void => {
      this.#worker.removeAllListeners();
      this.#refuseAll(new KeelsonError('internal', {}, { cause }));
      onEnd(this, cause);
    };
    this.#worker.on('message', (message: FromThread) => this.#receive(message));
    this.#worker.on('error', end);
    this.#worker.on('exit', (code) => end(new Error(`a maker thread ended with ${code}`)));
    this.#worker.unref();
  }

  /** Resolves when the thread is up or will not come up. */
  get up(): Promise<void> {
    return this.#up.promise;
  }

  get waitingCount(): number {
    return this.#waiting.size;
  }

  make(
    [issuerId, issuer]: readonly [DefinitionId, SigningIssuer],
    [roleId, role]: readonly [DefinitionId, Role | undefined],
    order: CertificateOrder,
  ): Promise<MadeCertificate> {
    const { promise, resolve, reject } = Promise.withResolvers<MadeCertificate>();
    if (this.#isNews(issuerId)) this.#issuers.push([issuerId, issuer]);
    if (role !== undefined && this.#isNews(roleId)) this.#roles.push([roleId, role]);
    const id = ++this.#lastId;
    this.#waiting.set(id, { issuer, role, resolve, reject });
    this.#jobs.push({ id, issuerId, roleId, order });
    if (this.#jobs.length === 1) setImmediate(() => this.#send());
    return promise;
  }

  /** No order will name it again. */
  forgetDefinition(id: DefinitionId): void {
    if (this.#told.delete(id)) this.#forgotten.push(id);
    if (this.#jobs.length === 0) this.#send();
  }

  async end(): Promise<void> {
    this.#worker.removeAllListeners();
    this.#refuseAll(new KeelsonError('sys.sealed'));
    await this.#worker.terminate();
  }

  #isNews(id: DefinitionId): boolean {
    if (this.#told.has(id)) return false;
    this.#told.add(id);
    return true;
  }

  #send(): void {
    const message: ToThread = {
      issuers: this.#issuers,
      roles: this.#roles,
      jobs: this.#jobs,
      forgotten: this.#forgotten,
    };
    this.#issuers = [];
    this.#roles = [];
    this.#jobs = [];
    this.#forgotten = [];
    this.#worker.postMessage(message);
  }

  #receive(message: FromThread): void {
    if (message === 'up') {
      this.isUp = true;
      this.#up.resolve();
    } else for (const result of message) this.#settle(result);
  }

  #settle(result: JobResult): void {
    const waiting = this.#waiting.get(result.id);
    this.#waiting.delete(result.id);
    if ('made' in result) waiting?.resolve(result.made);
    else waiting?.reject(toThrown(result.refusal));
  }

  #refuseAll(error: KeelsonError): void {
    this.#up.resolve();
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#jobs = [];
    for (const { reject } of all) reject(error);
  }
}

export interface ThreadedMakerOptions {
  readonly maxThreads: number;
  readonly logger: Logger;
}

export class ThreadedMaker implements CertificateMaker {
  readonly #options: ThreadedMakerOptions;
  readonly #ids = new WeakMap<SigningIssuer | Role, DefinitionId>();
  readonly #gone = new FinalizationRegistry<DefinitionId>((id) => {
    for (const thread of this.#threads) thread.forgetDefinition(id);
  });
  #threads: MakerThread[] = [];
  #lastId = 0;
  /** Where threads do not come up, orders are done without. */
  #isUsable = true;

  constructor(options: ThreadedMakerOptions) {
    this.#options = options;
  }

  make(
    issuer: SigningIssuer,
    role: Role | undefined,
    order: CertificateOrder,
  ): Promise<MadeCertificate> {
    const thread = this.#chooseThread();
    if (thread === undefined) return makeCertificate(issuer, role, order);
    const roleId = role === undefined ? 0 : this.#idOf(role);
    return thread.make([this.#idOf(issuer), issuer], [roleId, role], order);
  }

  async forget(): Promise<void> {
    const threads = this.#threads;
    this.#threads = [];
    await Promise.all(threads.map((thread) => thread.end()));
  }

  get threadCount(): number {
    return this.#threads.length;
  }

  /** Starts a thread where there is none; resolves when it is up, or known not to come up. */
  async whenUp(): Promise<void> {
    if (this.#threads.length === 0) this.#startThread();
    await Promise.all(this.#threads.map(({ up }) => up));
  }

  /** The one with the least to do. */
  #chooseThread(): MakerThread | undefined {
    let chosen: MakerThread | undefined;
    for (const thread of this.#threads)
      if (thread.isUp && thread.waitingCount < (chosen?.waitingCount ?? Number.POSITIVE_INFINITY))
        chosen = thread;
    if (chosen === undefined || chosen.waitingCount >= BUSY_COUNT) this.#startThread();
    return chosen;
  }

  #startThread(): void {
    const isStarting = this.#threads.some(({ isUp }) => !isUp);
    if (!this.#isUsable || isStarting || this.#threads.length >= this.#options.maxThreads) return;
    const thread: MakerThread = new MakerThread((ended, err) => {
      this.#options.logger.error({ err }, 'a thread that makes certificates ended');
      this.#threads = this.#threads.filter((other) => other !== ended);
      if (!ended.isUp) this.#isUsable = false;
    });
    this.#threads.push(thread);
  }

  #idOf(definition: SigningIssuer | Role): DefinitionId {
    const known = this.#ids.get(definition);
    if (known !== undefined) return known;
    const id = ++this.#lastId;
    this.#ids.set(definition, id);
    this.#gone.register(definition, id);
    return id;
  }
}

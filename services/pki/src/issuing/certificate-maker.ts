import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { SigningIssuer } from '../issuers/domain/signing-issuer.ts';
import type { Role } from '../roles/domain/role.ts';
import { ThreadPool } from '../threads/thread-pool.ts';
import {
  type CertificateOrder,
  makeOrdered,
  type NewCertificate,
  type OrderUnderIssuer,
} from './build-certificate.ts';

/** More threads would only take cores from the event loop. */
const MAX_THREADS = 4;

/**
 * Whether keys are generated or used on libuv's thread pool: such jobs take long, and others run
 * meanwhile.
 */
const usesLibuv = ({ issuer, role, order }: OrderUnderIssuer): boolean =>
  issuer.privateKey.asymmetricKeyType === 'rsa' ||
  (order.kind === 'issue' && (role?.keyType === 'rsa' || order.key.type === 'rsa'));

/** Makes certificates on threads, which hold private keys while they do. */
export class CertificateMaker {
  readonly #pool: ThreadPool<OrderUnderIssuer, NewCertificate>;

  readonly #onMade: (mount: string) => void;

  /** @param onMade called with the uuid of the mount after each certificate */
  constructor(
    logger: Logger,
    onMade: (mount: string) => void = () => undefined,
    processors?: number,
  ) {
    this.#onMade = onMade;
    this.#pool = new ThreadPool(
      {
        entry: new URL('./maker-thread.ts', import.meta.url),
        name: 'making certificates',
        here: makeOrdered,
        maxThreads: MAX_THREADS,
        jobsPerMessage: 8,
        messagesAtATime: 8,
        // The messages of one mount leave places for other mounts, even if each of them generates a large key.
        messagesOfOwner: 4,
      },
      logger,
      processors,
    );
  }

  get threadCount(): number {
    return this.#pool.threadCount;
  }

  /** Resolves when orders are done on a thread, or it is known that no thread comes up. */
  whenStarted(): Promise<void> {
    return this.#pool.whenStarted();
  }

  /**
   * @param mount its uuid; mounts take turns
   * @param role undefined only for an order that needs none
   * @throws KeelsonError with the first rule that is broken; `sys.sealed` when `forget` came before the end
   */
  async make(
    mount: string,
    issuer: SigningIssuer,
    role: Role | undefined,
    order: CertificateOrder,
  ): Promise<NewCertificate> {
    const ordered = { issuer, role, order };
    const made = await this.#pool.run(ordered, { owner: mount, isAlone: usesLibuv(ordered) });
    this.#onMade(mount);
    return made;
  }

  /** Lets go of all private keys; resolves when the threads that had them have ended. */
  forget(): Promise<void> {
    return this.#pool.end(new KeelsonError('sys.sealed'));
  }
}

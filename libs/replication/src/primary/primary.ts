/**
 * The primary's side of a service: answers requests of admitted secondaries and records their
 * heartbeats. All others, including removed secondaries, get no answer that they could decrypt.
 */
import { randomUUID } from 'node:crypto';
import type { Bus } from '@keelson/bus';
import { type Clock, pause, systemClock } from '@keelson/clock';
import { hasCode, KeelsonError } from '@keelson/errors';
import type { Filter, ForwardQuestion, Heartbeat } from '@keelson/proto/replication/v1/replication';
import type { Store } from '@keelson/storage';
import { deriveLinkKey } from '../cipher/link-key.ts';
import type { ReplicationKind } from '../domain/crossing.ts';
import type { Membership } from '../membership/membership.ts';
import type { AdmittedSecondary } from '../membership/membership-records.ts';
import { filteredLogOf, questionSubject, replicaSubject, streamOfLog } from '../wire/names.ts';
import {
  type AnswerContent,
  type Ask,
  FORWARDED_PART_BYTES,
  openQuestion,
  parseSealedQuestion,
} from '../wire/questions.ts';
import type { FilterViews } from './filter-views.ts';
import { findFormerLog } from './previous-logs.ts';
import {
  type AnsweredRecords,
  answerDigests,
  answerObject,
  answerPage,
  answerRecordPart,
  answerRecords,
  answerSubpages,
} from './record-pages.ts';
import { type SecondaryFacts, SecondaryHeartbeats } from './secondary-heartbeats.ts';
import { loadStreamEnd, type PublishedPosition } from './stream-position.ts';
import { Transfers } from './transfers.ts';

/** The keys that a secondary needs to decrypt the records it receives. */
export interface KeyringHandover {
  readonly rootKey: Uint8Array;
  readonly wrappedKeyring: Uint8Array;
}

export interface PrimaryOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly membership: Membership;
  readonly views: FilterViews;
  readonly kind: ReplicationKind;
  readonly service: string;
  /** Version of the software of this cluster. */
  readonly version: string;
  /** The current keyring of the store's barrier. */
  readonly handover: () => Promise<KeyringHandover>;
  /** Cluster addresses of the primary and of the clusters that may replace it. */
  readonly clusterAddresses: () => Promise<readonly string[]>;
  /** Address at which clients reach the primary. */
  readonly apiAddress?: string;
  /** Answers a request that a secondary may not serve itself; bytes of the edge's messages. */
  readonly serveForwarded?: (request: Uint8Array, secondaryId: string) => Promise<Uint8Array>;
  /** Called when a filtered secondary sends a request or reports, so that its log is published. */
  readonly onFiltered?: (secondaryId: string) => void;
  /** The paths filter of a secondary, for its status; absent in services that do not know filters. */
  readonly describeFilter?: (secondaryId: string) => Promise<Filter | undefined>;
  /** Finds an object that records of the service refer to; absent in services without object storage. */
  readonly findObject?: (key: string) => Promise<Uint8Array | undefined>;
  /** Called when a secondary reports a later promotion: this cluster is no longer the primary. */
  readonly onSuperseded: (promotion: number) => void;
  readonly clock?: Clock;
}

/** The empty answer to each part of a request but the last. */
const NO_ANSWER = {
  response: Buffer.alloc(0),
  walSequence: 0n,
  totalBytes: 0n,
  transfer: '',
  replica: '',
} as const;
const NO_FILTER: Filter = { mode: '', paths: [], filteredMounts: [], filteredNamespaces: [] };
/** A publisher starts within milliseconds, unless its lease must first expire in another replica. */
const PUBLISHED_LOOKS = 20;
const PUBLISHED_LOOK_EVERY_MS = 50;
const NEVER = new AbortController().signal;
/** Largest number of groups that fit one answer. */
const MAX_GROUPS_PER_ANSWER = 10_000;

export class Primary {
  readonly #options: PrimaryOptions;
  readonly #clock: Clock;
  readonly #replica = randomUUID();
  readonly #transfers: Transfers;
  readonly #heartbeats: SecondaryHeartbeats;

  constructor(options: PrimaryOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#transfers = new Transfers(this.#clock);
    this.#heartbeats = new SecondaryHeartbeats(options.store, options.kind, options.service);
  }

  /** Answers until `signal` aborts. Resolves once requests can be received. */
  async serve(signal: AbortSignal): Promise<void> {
    const { bus, membership, service } = this.#options;
    const { clusterId } = await membership.identity();
    const subject = questionSubject(clusterId, service);
    const own = replicaSubject(subject, this.#replica);
    for (const one of [own, subject])
      await bus.respond(one, (payload) => this.#answer(one, payload), signal);
  }

  /** The admitted secondaries that sent a heartbeat to any replica. */
  secondaries(): Promise<readonly SecondaryFacts[]> {
    const { membership } = this.#options;
    return this.#heartbeats.all(async (id) => (await membership.findSecondary(id)) !== undefined);
  }

  async #answer(subject: string, payload: Uint8Array): Promise<Uint8Array> {
    const { membership, onSuperseded } = this.#options;
    const sealed = parseSealedQuestion(payload);
    const secondary = await membership.findSecondary(sealed.secondaryId);
    if (secondary === undefined)
      throw new KeelsonError('replication.not_admitted', { secondary: sealed.secondaryId });
    const { clusterId, keys, promotion } = await membership.identity();
    const linkKey = deriveLinkKey({
      own: keys,
      peerPublicKey: secondary.publicKey,
      clusterId,
      secondaryId: secondary.id,
    });
    const question = openQuestion(linkKey, subject, sealed);
    if (question.promotion > promotion) {
      onSuperseded(question.promotion);
      throw new KeelsonError('replication.superseded');
    }
    return question.sealAnswer(await this.#answerAsk(secondary, question.ask), promotion);
  }

  async #answerAsk(secondary: AdmittedSecondary, ask: Ask): Promise<AnswerContent> {
    const { store, kind, views, handover } = this.#options;
    const answered: AnsweredRecords = { store, kind, views, secondaryId: secondary.id };
    switch (ask.$case) {
      case 'position':
        return this.#answerPosition(secondary);
      case 'digests':
        return {
          $case: 'digests',
          value: { digests: await answerDigests(answered, ask.value) },
        };
      case 'page':
        return { $case: 'page', value: await answerPage(answered, ask.value) };
      case 'subpages':
        return { $case: 'subpages', value: await answerSubpages(answered, ask.value) };
      case 'records':
        return { $case: 'records', value: await answerRecords(answered, ask.value) };
      case 'recordPart':
        return { $case: 'recordPart', value: await answerRecordPart(answered, ask.value) };
      case 'object': {
        const { findObject = () => Promise.resolve(undefined) } = this.#options;
        const stored = await answerObject(answered, ask.value.key, findObject);
        return { $case: 'object', value: { stored } };
      }
      case 'keyring': {
        const { rootKey, wrappedKeyring } = await handover();
        return {
          $case: 'keyring',
          value: { rootKey: Buffer.from(rootKey), wrappedKeyring: Buffer.from(wrappedKeyring) },
        };
      }
      case 'epoch':
        return this.#answerEpoch(secondary, Number(ask.value.epoch));
      case 'heartbeat':
        return this.#answerHeartbeat(secondary, ask.value);
      case 'forward':
        return this.#answerForward(secondary, ask.value);
      case 'forwardRest': {
        const { transfer, offset } = ask.value;
        const at = Number(offset);
        const part = this.#transfers.read(secondary.id, transfer, at, FORWARDED_PART_BYTES);
        return { $case: 'forwardRest', value: { part: Buffer.from(part) } };
      }
      case 'filter':
        return {
          $case: 'filter',
          value: (await this.#options.describeFilter?.(secondary.id)) ?? NO_FILTER,
        };
    }
  }

  async #answerForward({ id }: AdmittedSecondary, given: ForwardQuestion): Promise<AnswerContent> {
    const { serveForwarded, store } = this.#options;
    if (serveForwarded === undefined) throw new KeelsonError('replication.not_ready');
    const awaiting = (transfer: string): AnswerContent => ({
      $case: 'forward',
      value: { ...NO_ANSWER, transfer, replica: this.#replica },
    });
    if (given.totalBytes > 0n)
      return awaiting(this.#transfers.open(id, Number(given.totalBytes), given.request));
    const request =
      given.transfer === ''
        ? given.request
        : this.#transfers.append(id, given.transfer, given.request);
    if (request === undefined) return awaiting(given.transfer);
    const response = await serveForwarded(request, id);
    const walSequence = BigInt(await store.wal.headSequence());
    if (response.length <= FORWARDED_PART_BYTES)
      return {
        $case: 'forward',
        value: { ...NO_ANSWER, response: Buffer.from(response), walSequence },
      };
    return {
      $case: 'forward',
      value: {
        response: Buffer.from(response.subarray(0, FORWARDED_PART_BYTES)),
        walSequence,
        totalBytes: BigInt(response.length),
        transfer: this.#transfers.keep(id, response),
        replica: this.#replica,
      },
    };
  }

  /** Id of the log that the secondary must follow. */
  async #logOf({ id }: AdmittedSecondary): Promise<string> {
    const { membership, views, onFiltered } = this.#options;
    const { logId } = await membership.identity();
    const view = await views.of(id, []);
    if (view === undefined) return logId;
    onFiltered?.(id);
    return filteredLogOf(logId, view.generation);
  }

  /** Read before anything the secondary copies: it streams from there and misses nothing. */
  async #answerPosition(secondary: AdmittedSecondary): Promise<AnswerContent> {
    const { store, membership, views, service } = this.#options;
    const { clusterId } = await membership.identity();
    const logId = await this.#logOf(secondary);
    const stream = streamOfLog(logId, { clusterId, secondaryId: secondary.id }, service);
    const published = await this.#published(stream, logId);
    const verdict = await views.verdictOn(secondary.id);
    const former = await findFormerLog(store, service);
    return {
      $case: 'position',
      value: {
        logId,
        walSequence: BigInt(published.walSequence),
        streamSequence: BigInt(published.streamSequence),
        epoch: verdict === undefined ? BigInt((await membership.currentEpoch()).epoch) : 0n,
        withheldGroups: verdict?.withheldGroups.slice(0, MAX_GROUPS_PER_ANSWER) ?? [],
        primaryVersion: this.#options.version,
        formerLogId: former?.logId ?? '',
        formerSequence: BigInt(former?.sequence ?? 0),
      },
    };
  }

  /** Position of a log in the stream. Waits for a log that has not been published yet. */
  async #published(stream: string, logId: string): Promise<PublishedPosition> {
    for (let times = 0; times < PUBLISHED_LOOKS; times += 1) {
      const published = await this.#endOf(stream);
      if (published?.logId === logId) return published;
      await pause(this.#clock, PUBLISHED_LOOK_EVERY_MS, NEVER);
    }
    throw new KeelsonError('replication.not_ready');
  }

  /** End of the published log; undefined if the stream does not exist or is empty. */
  async #endOf(stream: string): Promise<PublishedPosition | undefined> {
    try {
      return (await loadStreamEnd(this.#options.bus, stream)).published;
    } catch (error) {
      if (hasCode(error, 'bus.stream_not_found')) return undefined;
      throw error;
    }
  }

  async #answerEpoch({ id, firstEpoch }: AdmittedSecondary, epoch: number): Promise<AnswerContent> {
    const { membership, views } = this.#options;
    // The key is not for this secondary: it must find its own stream, or compare the records it missed.
    if (epoch < firstEpoch || (await views.of(id, [])) !== undefined)
      throw new KeelsonError('replication.log_broken', { sequence: 0 });
    const found = await membership.findEpoch(epoch);
    if (found === undefined) throw new KeelsonError('replication.not_admitted', { secondary: id });
    return { $case: 'epoch', value: { key: Buffer.from(found.key) } };
  }

  async #answerHeartbeat(
    secondary: AdmittedSecondary,
    heartbeat: Heartbeat,
  ): Promise<AnswerContent> {
    const { id } = secondary;
    const nowMs = this.#clock.nowMs();
    // Read before the heartbeat is recorded, so that the record itself does not count as lag.
    const lastWal = await this.#options.store.wal.headSequence();
    await this.#heartbeats.note(
      {
        id,
        localClusterId: heartbeat.localClusterId,
        lastRemoteWal: Number(heartbeat.lastRemoteWal),
        apiAddress: heartbeat.apiAddress,
        clusterAddress: heartbeat.clusterAddress,
        clockSkewMs: Number(heartbeat.clockSkewMs),
        lastHeartbeatAtMs: nowMs,
        roundTripMs: Number(heartbeat.roundTripMs),
        bytesReceived: Number(heartbeat.bytesReceived),
        resync: {
          records: Number(heartbeat.resyncRecords),
          bytes: Number(heartbeat.resyncBytes),
        },
        canaryAgeMs:
          heartbeat.canaryAgeMs === undefined ? undefined : Number(heartbeat.canaryAgeMs),
      },
      Number(heartbeat.sentAtMs),
    );
    return {
      $case: 'heartbeat',
      value: {
        nowMs: BigInt(nowMs),
        lastWal: BigInt(lastWal),
        primaryClusterAddresses: [...(await this.#options.clusterAddresses())],
        logId: await this.#logOf(secondary),
        primaryApiAddress: this.#options.apiAddress ?? '',
      },
    };
  }
}

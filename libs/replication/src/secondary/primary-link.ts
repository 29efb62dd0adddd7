/** A secondary's requests to its primary. */
import type { Bus, StreamMessage } from '@keelson/bus';
import { KeelsonError } from '@keelson/errors';
import type {
  Filter,
  Page,
  PageQuestion,
  Records,
  Subpages,
} from '@keelson/proto/replication/v1/replication';
import type { RemoteTree, SubpageIndex, TreeType } from '@keelson/storage';
import { deriveLinkKey, deriveStreamKey, type LinkKeyPair } from '../cipher/link-key.ts';
import { openMessage, sealMessage } from '../cipher/sealed-message.ts';
import type { LogPosition } from '../primary/previous-logs.ts';
import type { PublishedPosition } from '../primary/stream-position.ts';
import { openEpochKey } from '../wire/epoch-keys.ts';
import { questionSubject, replicaSubject } from '../wire/names.ts';
import {
  type AnswerContent,
  type Ask,
  FORWARDED_PART_BYTES,
  sealQuestion,
} from '../wire/questions.ts';
import { LINK_EPOCH } from '../wire/stream-message.ts';
import type { FollowerRecords } from './follower-records.ts';
import type { KnownPromotion } from './known-promotion.ts';

const ANSWER_TIMEOUT_MS = 10_000;
/** Digests of all pages would not fit one message. */
const PAGES_PER_QUESTION = 128;

/** The identity that a secondary received at its activation. */
export interface SecondaryIdentity {
  /** Id of the replication set. */
  readonly clusterId: string;
  readonly secondaryId: string;
  readonly keys: LinkKeyPair;
  readonly primaryPublicKey: string;
}

export interface PrimaryLinkOptions {
  readonly bus: Bus;
  readonly identity: SecondaryIdentity;
  readonly service: string;
  /** Called with the outcome of each question and the length of the answer. */
  readonly onOutcome: (outcome: 'answered' | 'failed', answerBytes: number) => void;
  readonly timeoutMs?: number;
  /** The highest promotion known of the set; a superseded primary is not followed. */
  readonly promotion: Pick<KnownPromotion, 'load' | 'accept'>;
  /** Storage in which epoch keys outlive this process. */
  readonly keptKeys?: Pick<FollowerRecords, 'findKey' | 'keepKey'>;
}

/** Position of the log that this secondary must follow. */
export interface FollowPosition extends PublishedPosition {
  /** Groups of records that do not cross to this secondary, as far as the primary named them. */
  readonly withheldGroups: readonly string[];
  /** Version of the primary's software. */
  readonly primaryVersion: string;
  /** The log that the primary itself followed before, and the newest entry of it that it has. */
  readonly former: LogPosition | undefined;
}

type Value<Case extends AnswerContent['$case']> = Extract<
  AnswerContent,
  { readonly $case: Case }
>['value'];

export class PrimaryLink {
  readonly #options: PrimaryLinkOptions;
  readonly #linkKey: Uint8Array;
  readonly #subject: string;
  readonly #epochs = new Map<number, Uint8Array>();

  constructor(options: PrimaryLinkOptions) {
    const { clusterId, secondaryId, keys, primaryPublicKey } = options.identity;
    this.#options = options;
    this.#linkKey = deriveLinkKey({
      own: keys,
      peerPublicKey: primaryPublicKey,
      clusterId,
      secondaryId,
    });
    this.#epochs.set(LINK_EPOCH, deriveStreamKey(this.#linkKey));
    this.#subject = questionSubject(clusterId, options.service);
  }

  async loadPosition(): Promise<FollowPosition> {
    const { logId, walSequence, streamSequence, epoch, withheldGroups, ...more } = await this.ask(
      'position',
      { $case: 'position', value: {} },
    );
    // Loaded now, because entries in the stream must remain readable when the primary fails.
    if (epoch > 0n) await this.epochKey(Number(epoch));
    return {
      logId,
      walSequence: Number(walSequence),
      streamSequence: Number(streamSequence),
      withheldGroups,
      primaryVersion: more.primaryVersion,
      former:
        more.formerLogId === ''
          ? undefined
          : { logId: more.formerLogId, sequence: Number(more.formerSequence) },
    };
  }

  remoteTree(tree: TreeType): RemoteTree {
    const digests = async (pages: readonly number[]): Promise<readonly Uint8Array[]> =>
      (await this.ask('digests', { $case: 'digests', value: { tree, pages: [...pages] } })).digests;
    return {
      pageDigests: async () => (await digests([]))[0] ?? new Uint8Array(),
      subpageDigests: async (pages) => {
        const rows: Uint8Array[] = [];
        for (let at = 0; at < pages.length; at += PAGES_PER_QUESTION)
          rows.push(...(await digests(pages.slice(at, at + PAGES_PER_QUESTION))));
        return rows;
      },
    };
  }

  loadPage(value: PageQuestion): Promise<Page> {
    return this.ask('page', { $case: 'page', value });
  }

  loadSubpages(tree: TreeType, subpages: readonly SubpageIndex[]): Promise<Subpages> {
    return this.ask('subpages', { $case: 'subpages', value: { tree, subpages: [...subpages] } });
  }

  loadRecords(paths: readonly string[]): Promise<Records> {
    return this.ask('records', { $case: 'records', value: { paths: [...paths] } });
  }

  /** A record too large for one message; undefined when it was deleted meanwhile. */
  async loadLargeRecord(path: string): Promise<Uint8Array | undefined> {
    for (;;) {
      const parts: Uint8Array[] = [];
      let offset = 0;
      let leaf: Buffer | undefined;
      for (;;) {
        const value = { path, offset: BigInt(offset) };
        const answer = await this.ask('recordPart', { $case: 'recordPart', value });
        if (answer.leaf.length === 0) return undefined;
        leaf ??= answer.leaf;
        // The record changed meanwhile, so reading starts again.
        if (!leaf.equals(answer.leaf)) break;
        parts.push(answer.part);
        offset += answer.part.length;
        if (offset >= Number(answer.totalBytes)) return Buffer.concat(parts);
        if (answer.part.length === 0)
          throw new KeelsonError('replication.malformed', { reason: 'an empty part' });
      }
    }
  }

  /** An object that records refer to; undefined if the primary has none for this secondary. */
  async loadObject(key: string): Promise<Uint8Array | undefined> {
    const { stored } = await this.ask('object', { $case: 'object', value: { key } });
    return stored.length === 0 ? undefined : stored;
  }

  loadKeyring(): Promise<Value<'keyring'>> {
    return this.ask('keyring', { $case: 'keyring', value: {} });
  }

  /** The paths filter of this secondary; an empty mode means that there is none. */
  loadFilter(): Promise<Filter> {
    return this.ask('filter', { $case: 'filter', value: {} });
  }

  /** Also kept on disk, so that entries of the stream can be decrypted after a restart without primary. */
  async epochKey(epoch: number): Promise<Uint8Array> {
    const known = this.#epochs.get(epoch);
    if (known !== undefined) return known;
    const kept = await this.#options.keptKeys?.findKey(epoch);
    if (kept !== undefined)
      return this.#know(epoch, openMessage(this.#linkKey, this.#keptFor(epoch), kept));
    const { key } = await this.ask('epoch', { $case: 'epoch', value: { epoch: BigInt(epoch) } });
    return this.#keep(epoch, key);
  }

  /** Stores an unknown key that arrived with a message of the stream. */
  async storeEpochKey(
    stream: string,
    epoch: number,
    headers: StreamMessage['headers'],
  ): Promise<void> {
    if (this.#epochs.has(epoch)) return;
    const { secondaryId } = this.#options.identity;
    const key = openEpochKey({ stream, secondaryId, linkKey: this.#linkKey }, epoch, headers);
    if (key !== undefined) await this.#keep(epoch, key);
  }

  async #keep(epoch: number, key: Uint8Array): Promise<Uint8Array> {
    const sealed = sealMessage(this.#linkKey, this.#keptFor(epoch), key);
    await this.#options.keptKeys?.keepKey(epoch, sealed);
    return this.#know(epoch, key);
  }

  #keptFor(epoch: number): string {
    return `epoch ${this.#subject} ${epoch}`;
  }

  #know(epoch: number, key: Uint8Array): Uint8Array {
    this.#epochs.set(epoch, key);
    return key;
  }

  /**
   * The answer of the primary's edge to a request, with the position of its log at that time. A
   * request larger than a message is sent in parts, all to the replica that received the first.
   */
  async forward(
    request: Uint8Array,
    timeoutMs: number,
  ): Promise<{ readonly response: Uint8Array; readonly walSequence: number }> {
    const partAt = (offset: number): Buffer =>
      Buffer.from(request.subarray(offset, offset + FORWARDED_PART_BYTES));
    const isWhole = request.length <= FORWARDED_PART_BYTES;
    const totalBytes = isWhole ? 0n : BigInt(request.length);
    let answer = await this.ask(
      'forward',
      { $case: 'forward', value: { request: partAt(0), totalBytes, transfer: '' } },
      timeoutMs,
    );
    for (let at = FORWARDED_PART_BYTES; at < request.length; at += FORWARDED_PART_BYTES) {
      const { transfer, replica } = answer;
      const value = { request: partAt(at), totalBytes: 0n, transfer };
      answer = await this.ask('forward', { $case: 'forward', value }, timeoutMs, replica);
    }
    const response = await this.#loadRest(answer, timeoutMs);
    return { response, walSequence: Number(answer.walSequence) };
  }

  async #loadRest(
    { response, totalBytes, transfer, replica }: Value<'forward'>,
    timeoutMs: number,
  ): Promise<Uint8Array> {
    const parts: Uint8Array[] = [response];
    for (let received = response.length; received < Number(totalBytes); ) {
      const value = { transfer, offset: BigInt(received) };
      const ask: Ask = { $case: 'forwardRest', value };
      const { part } = await this.ask('forwardRest', ask, timeoutMs, replica);
      if (part.length === 0)
        throw new KeelsonError('replication.malformed', { reason: 'an empty part' });
      parts.push(part);
      received += part.length;
    }
    return parts.length === 1 ? response : Buffer.concat(parts);
  }

  /**
   * @param replica "" for any replica
   * @throws KeelsonError of the bus or the primary; `replication.malformed` for another answer;
   *   `replication.superseded_primary`, `replication.superseded`: the other one knows of a later promotion
   */
  async ask<Case extends AnswerContent['$case']>(
    expected: Case,
    ask: Ask,
    timeoutMs = this.#options.timeoutMs ?? ANSWER_TIMEOUT_MS,
    replica = '',
  ): Promise<Value<Case>> {
    const { bus, identity, onOutcome, promotion } = this.#options;
    const subject = replica === '' ? this.#subject : replicaSubject(this.#subject, replica);
    try {
      const question = sealQuestion(this.#linkKey, subject, identity.secondaryId, {
        ask,
        promotion: await promotion.load(),
      });
      const answer = await bus.request(subject, question.payload, { timeoutMs });
      const { content, promotion: ofPrimary } = question.openAnswer(answer);
      await promotion.accept(ofPrimary);
      if (content.$case !== expected)
        throw new KeelsonError('replication.malformed', { reason: 'another answer' });
      onOutcome('answered', answer.length);
      return content.value as Value<Case>;
    } catch (error) {
      onOutcome('failed', 0);
      throw error;
    }
  }
}

/**
 * Forwarded requests and answers that are larger than a message and are sent in parts. Bounded in number
 * and memory; abandoned transfers are dropped after a time limit.
 */
import { randomUUID } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { KeelsonError } from '@keelson/errors';

const MAX_TRANSFERS = 32;
const MAX_BYTES = 256 * 1024 * 1024;
const IDLE_MS = 60_000;

interface Transfer {
  /** The secondary it belongs to. */
  readonly owner: string;
  readonly bytes: Uint8Array;
  received: number;
  touchedAtMs: number;
}

export class Transfers {
  readonly #clock: Clock;
  readonly #transfers = new Map<string, Transfer>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes the first part of a request. @throws KeelsonError `edge.overloaded`, `request.too_large` */
  open(owner: string, totalBytes: number, part: Uint8Array): string {
    if (totalBytes > MAX_BYTES)
      throw new KeelsonError('request.too_large', { limitBytes: MAX_BYTES });
    if (part.length >= totalBytes)
      throw new KeelsonError('replication.malformed', { reason: 'a transfer of one part' });
    const bytes = this.#admit(totalBytes, () => new Uint8Array(totalBytes));
    bytes.set(part);
    return this.#keep({ owner, bytes, received: part.length });
  }

  /** @returns the whole once it is complete. @throws KeelsonError `replication.malformed` */
  append(owner: string, id: string, part: Uint8Array): Uint8Array | undefined {
    const transfer = this.#find(owner, id);
    const received = transfer.received + part.length;
    if (part.length === 0 || received > transfer.bytes.length)
      throw new KeelsonError('replication.malformed', { reason: 'a part that does not fit' });
    transfer.bytes.set(part, transfer.received);
    transfer.received = received;
    if (received < transfer.bytes.length) return undefined;
    this.#drop(id, transfer);
    return transfer.bytes;
  }

  /** Keeps an answer for `read`. @throws KeelsonError `edge.overloaded` */
  keep(owner: string, answer: Uint8Array): string {
    const bytes = this.#admit(answer.length, () => answer);
    return this.#keep({ owner, bytes, received: bytes.length });
  }

  /** A part of a kept answer; the last one ends it. @throws KeelsonError `replication.malformed` */
  read(owner: string, id: string, offset: number, size: number): Uint8Array {
    const transfer = this.#find(owner, id);
    const part = transfer.bytes.subarray(offset, offset + size);
    if (offset + size >= transfer.bytes.length) this.#drop(id, transfer);
    return part;
  }

  #admit(bytes: number, allocate: () => Uint8Array): Uint8Array {
    const nowMs = this.#clock.nowMs();
    for (const [id, transfer] of this.#transfers)
      if (nowMs - transfer.touchedAtMs > IDLE_MS) this.#drop(id, transfer);
    if (this.#transfers.size >= MAX_TRANSFERS || this.#bytes + bytes > MAX_BYTES)
      throw new KeelsonError('edge.overloaded', { service: 'replication' });
    return allocate();
  }

  #keep(transfer: Omit<Transfer, 'touchedAtMs'>): string {
    const id = randomUUID();
    this.#transfers.set(id, { ...transfer, touchedAtMs: this.#clock.nowMs() });
    this.#bytes += transfer.bytes.length;
    return id;
  }

  #find(owner: string, id: string): Transfer {
    const found = this.#transfers.get(id);
    if (found?.owner !== owner)
      throw new KeelsonError('replication.malformed', { reason: 'no such transfer' });
    found.touchedAtMs = this.#clock.nowMs();
    return found;
  }

  #drop(id: string, { bytes }: Transfer): void {
    this.#transfers.delete(id);
    this.#bytes -= bytes.length;
  }
}

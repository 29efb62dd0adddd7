/** A secondary's view of a bus whose answers and stream messages are damaged, lost, duplicated or late. */
import type { Bus, StreamMessage } from '@keelson/bus';
import { KeelsonError } from '@keelson/errors';
import fc from 'fast-check';
import { byteDamage, type Damage, oneIn, usually } from '../malformed.ts';

/** A change of one message. */
interface MessageDamage {
  readonly isSpared: boolean;
  /** Absent for an answer that is lost. */
  readonly answer: Damage<Uint8Array> | undefined;
  readonly message: (message: StreamMessage) => StreamMessage[];
}

const damagedHeader = fc
  .tuple(
    fc.constantFrom('log', 'epoch', 'first', 'last', 'part', 'parts'),
    fc.constantFrom('', '0', '1', '2', '999999', '-1', 'x', String(2 ** 60)),
  )
  .map(([name, value]) => (message: StreamMessage) => [
    { ...message, headers: { ...message.headers, [name]: value } },
  ]);

const MESSAGE_DAMAGE: fc.Arbitrary<MessageDamage> = fc.record({
  isSpared: usually(true, 3, [false]),
  answer: oneIn(4, fc.constant(undefined), byteDamage),
  message: fc.oneof(
    fc.constantFrom<MessageDamage['message'][]>(
      () => [],
      (message) => [message, message],
      (message) => [{ ...message, headers: {} }],
    ),
    damagedHeader,
    byteDamage.map((damage) => (message: StreamMessage) => [
      { ...message, payload: damage(message.payload) },
    ]),
  ),
});

export class DamagingBus {
  /** How many messages were damaged. */
  damaged = 0;
  #left: MessageDamage[] = [];

  get isDamaging(): boolean {
    return this.#left.length > 0;
  }

  /** Damages about a third of the next messages. */
  damage(messages: number, seed: number): void {
    this.#left = fc.sample(MESSAGE_DAMAGE, { numRuns: messages, seed });
  }

  spare(): void {
    this.#left = [];
  }

  over(bus: Bus): Bus {
    return {
      ensureStream: (options) => bus.ensureStream(options),
      publish: (stream, payload, options) => bus.publish(stream, payload, options),
      tail: (stream) => bus.tail(stream),
      respond: (subject, handler, signal) => bus.respond(subject, handler, signal),
      status: () => bus.status(),
      failure: () => bus.failure(),
      onStatus: (listener) => bus.onStatus(listener),
      close: () => bus.close(),
      request: async (subject, payload, options) => {
        const answer = await bus.request(subject, payload, options);
        const next = this.#next();
        if (next === undefined) return answer;
        if (next.answer === undefined)
          throw new KeelsonError('bus.timeout', { subject, ...options });
        return next.answer(answer);
      },
      consume: (stream, sequence, signal) => this.#consume(bus.consume(stream, sequence, signal)),
    };
  }

  #next(): MessageDamage | undefined {
    const next = this.#left.pop();
    if (next === undefined || next.isSpared) return undefined;
    this.damaged += 1;
    return next;
  }

  async *#consume(messages: AsyncIterable<StreamMessage>): AsyncGenerator<StreamMessage> {
    for await (const message of messages) yield* this.#next()?.message(message) ?? [message];
  }
}

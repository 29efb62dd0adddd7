/** A secondary's view of a bus whose answers and stream messages are damaged, lost, duplicated or late. */
import type { Bus, StreamMessage } from '@keelson/bus';
import { KeelsonError } from '@keelson/errors';
import type { Random } from '../random.ts';
import { damageBytes } from './bad-questions.ts';

const ONE_IN = 3;

export class DamagingBus {
  /** How many messages were damaged. */
  damaged = 0;
  isDamaging = false;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
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
        if (!this.#isNext()) return answer;
        if (this.#random.once(4)) throw new KeelsonError('bus.timeout', { subject, ...options });
        return damageBytes(answer, this.#random);
      },
      consume: (stream, sequence, signal) => this.#consume(bus.consume(stream, sequence, signal)),
    };
  }

  #isNext(): boolean {
    if (!this.isDamaging || !this.#random.once(ONE_IN)) return false;
    this.damaged += 1;
    return true;
  }

  async *#consume(messages: AsyncIterable<StreamMessage>): AsyncGenerator<StreamMessage> {
    for await (const message of messages)
      if (this.#isNext()) yield* this.#damage(message);
      else yield message;
  }

  #damage(message: StreamMessage): readonly StreamMessage[] {
    const random = this.#random;
    const name = random.pick(['log', 'epoch', 'first', 'last', 'part', 'parts']);
    const value = random.pick(['', '0', '1', '2', '999999', '-1', 'x', String(2 ** 60)]);
    switch (random.below(5)) {
      case 0:
        return [];
      case 1:
        return [message, message];
      case 2:
        return [{ ...message, headers: { ...message.headers, [name]: value } }];
      case 3:
        return [{ ...message, headers: {} }];
      default:
        return [{ ...message, payload: damageBytes(message.payload, random) }];
    }
  }
}

/**
 * Combines concurrent requests of many callers into one query. A caller is answered by a query that
 * started after its request, so the answer is never older than the request.
 */
export class SharedQuery<Question, Answer> {
  readonly #ask: (questions: readonly Question[]) => Promise<Answer>;
  #waiting: Question[] = [];
  #next: Promise<Answer> | undefined;
  #running: Promise<unknown> = Promise.resolve();

  constructor(ask: (questions: readonly Question[]) => Promise<Answer>) {
    this.#ask = ask;
  }

  join(question: Question): Promise<Answer> {
    this.#waiting.push(question);
    this.#next ??= this.#running.then(() => this.#start());
    return this.#next;
  }

  #start(): Promise<Answer> {
    const questions = this.#waiting;
    this.#waiting = [];
    this.#next = undefined;
    const answer = this.#ask(questions);
    this.#running = answer.catch(() => undefined);
    return answer;
  }
}

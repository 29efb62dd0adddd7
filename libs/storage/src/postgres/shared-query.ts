/**
 * Joins what many callers ask at the same time into one query. A caller is answered by a query that
 * started after it asked, so the answer is never older than the question.
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

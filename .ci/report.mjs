/**
 * Vitest's reporter for the suite. It writes the file SUITE_REPORT, which `test-counts.mjs` judges. The file has the
 * form of vitest's own JSON report, and also contains the errors of preparations, and those that belong to no test.
 * `SUITE_REPORT.interim` names the tests that have failed so far and those that are running; the suite prints it when
 * it is interrupted. For a run that is killed, tests that take minutes are printed while they run.
 */
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const MINUTE_MS = 60_000;
/** How long a run may take to end after its last test. */
const END_WITHIN_MS = Number(process.env.SUITE_END_WITHIN_MS ?? 30_000);
const NO_END =
  'The run did not end after its last test: a process that a test has left holds its output.';

/** The names of the groups that a test is in, and its own. */
const namesOf = (task) => (task.type === 'module' ? [] : [...namesOf(task.parent), task.name]);
const fullNameOf = (test) => namesOf(test).join(' ');
const fileOf = (module) => relative(process.cwd(), module.moduleId);
const titleOf = (test) => `${fileOf(test.module)}: ${fullNameOf(test)}`;

/** Places in the repository on the stack of an error, beginning with the innermost. */
const placesOf = ({ stack = '' }) =>
  stack
    .split('\n')
    .filter((line) => /^ +at .*:\d+:\d+\)?$/.test(line) && !/node_modules|node:/.test(line))
    .map((line) => line.replaceAll('file://', '').replaceAll(`${process.cwd()}/`, ''));

/** The whole error: its message, the difference from what was expected, places in the repository, and its causes. */
const textOf = (error) => {
  const { name, message, diff, cause } = error;
  return [
    name === undefined ? message : `${name}: ${message}`,
    ...(diff === undefined ? [] : [diff]),
    ...placesOf(error),
    ...(cause?.message === undefined ? [] : [`Caused by ${textOf(cause)}`]),
  ].join('\n');
};

/** The text of an error that no test has met, if it comes from the code of a file, or is the end of its worker. */
const strayTextOf = (error, { moduleId }) => {
  if (error.VITEST_TEST_PATH === moduleId) return textOf(error);
  const crash = error.cause?.message;
  return crash?.endsWith(`test file ${moduleId}`) ? crash : undefined;
};

/** A test without a result did not run, or did not end before its worker did. */
const statusOf = (test) => {
  const { state } = test.result();
  return state === 'pending' ? 'skipped' : state;
};

const assertionOf = (test) => ({
  fullName: fullNameOf(test),
  status: statusOf(test),
  failureMessages: (test.result().errors ?? []).map(textOf),
  childLogs: test.meta().childLogs ?? [],
});

/** The errors of the file, and of preparations for a group of its tests. */
const errorsOf = (module) =>
  [module, ...module.children.allSuites()].flatMap((group) => group.errors());

export default class Report {
  #path = process.env.SUITE_REPORT;
  #failed = [];
  /** Running tests and files with the time of their start, by the id of the file or test. A test also has the id of its file. */
  #running = new Map();
  /** When a file was begun and ended, by its id. */
  #times = new Map();
  /** CPU seconds of a file by its id, with the start of its process for the first file there. */
  #cpuSeconds = new Map();
  /** CPU seconds of a process of tests after the newest file that ended there, by its id. */
  #usedBefore = new Map();

  onTestRunStart() {
    setInterval(() => {
      for (const { text, since } of this.#active()) {
        const minutes = Math.floor((Date.now() - since) / MINUTE_MS);
        if (minutes > 0) console.log(`running   ${text}, for ${minutes} min`);
      }
    }, MINUTE_MS).unref();
  }

  onTestModuleQueued(module) {
    this.#times.set(module.id, { startTime: Date.now() });
    this.#begin(module, fileOf(module));
  }

  onTestCaseReady(test) {
    this.#begin(test, titleOf(test));
  }

  onTestCaseResult(test) {
    if (test.result().state === 'failed') this.#failed.push(titleOf(test));
    this.#end(test.id);
  }

  onTestModuleEnd(module) {
    this.#times.get(module.id).endTime = Date.now();
    const { cpu } = module.meta();
    if (cpu !== undefined) {
      this.#cpuSeconds.set(module.id, cpu.seconds - (this.#usedBefore.get(cpu.pid) ?? 0));
      this.#usedBefore.set(cpu.pid, cpu.seconds);
    }
    if (errorsOf(module).length > 0) this.#failed.push(fileOf(module));
    // The end of a test is not always reported before that of its file.
    for (const test of module.children.allTests()) this.#running.delete(test.id);
    this.#end(module.id);
  }

  onTestRunEnd(modules, strayErrors) {
    const strayTextsOf = (module) =>
      strayErrors.flatMap((error) => strayTextOf(error, module) ?? []);
    const testResults = modules.map((module) => {
      const errors = [...errorsOf(module).map(textOf), ...strayTextsOf(module)];
      const hasFailed = errors.length > 0 || !['passed', 'skipped'].includes(module.state());
      return {
        name: module.moduleId,
        project: module.project.name,
        status: hasFailed ? 'failed' : 'passed',
        message: errors[0] ?? '',
        childLogs: module.meta().childLogs ?? [],
        ...this.#times.get(module.id),
        cpuSeconds: this.#cpuSeconds.get(module.id) ?? 0,
        assertionResults: [...module.children.allTests()].map(assertionOf),
      };
    });
    const errors = strayErrors
      .filter((error) => modules.every((module) => strayTextOf(error, module) === undefined))
      .map(textOf);
    const { user, system } = process.cpuUsage();
    const ownCpuSeconds = (user + system) / 1e6;
    const write = (all) =>
      writeFileSync(this.#path, JSON.stringify({ testResults, errors: all, ownCpuSeconds }));
    write(errors);
    // Vitest waits without limit for whoever has inherited the output of its workers.
    setTimeout(() => {
      write([...errors, NO_END]);
      process.exit(1);
    }, END_WITHIN_MS).unref();
  }

  #begin({ id, module }, text) {
    this.#running.set(id, { file: module?.id, text, since: Date.now() });
    this.#writeInterim();
  }

  #end(id) {
    this.#running.delete(id);
    this.#writeInterim();
  }

  /** Tests, and the files that are loaded or whose tests are prepared. */
  #active() {
    const busy = new Set([...this.#running.values()].map(({ file }) => file));
    return [...this.#running].filter(([id]) => !busy.has(id)).map(([, entry]) => entry);
  }

  #writeInterim() {
    const lines = [
      ...this.#failed.map((text) => `failed    ${text}\n`),
      ...this.#active().map(
        ({ text, since }) => `running   ${text}, since ${new Date(since).toISOString()}\n`,
      ),
    ];
    writeFileSync(`${this.#path}.interim`, lines.join(''));
  }
}

/** The page that says who can reach what in which form, written from the attempts. */
import { ABSENT, type Attempt, type Form, MACHINE, OPEN } from './attempt.ts';
import { ATTEMPTS } from './attempts.ts';

/** The forms that are tried, with the titles of their columns. */
export const TRIED_FORMS: Readonly<Partial<Record<Form, string>>> = {
  root: 'started by root',
  user: 'started by an ordinary user',
  'unsafe-root': 'by root, without the sandbox',
  'unsafe-user': 'by an ordinary user, without the sandbox',
  container: 'agent in its container, without the sandbox',
};

/** The same, and the form that shows that the attempts work. */
export const FORMS_OF_TEST: readonly Form[] = [
  ...(Object.keys(TRIED_FORMS) as Form[]).filter((form) => form !== 'container'),
  'unsafe-shared',
];

const CONTAINER_TEST = 'deploy/test/hostile-container.integration.test.ts';
const TEST = 'services/standalone/test/hostile-run.integration.test.ts';

const forms = Object.keys(TRIED_FORMS) as Form[];
const titles = Object.values(TRIED_FORMS);
const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const heading = (first: string): readonly string[] => [
  row([first, ...titles]),
  row([first, ...titles].map(() => '---')),
];

const CELLS: Readonly<Record<string, string>> = {
  [OPEN]: '**not held**',
  [ABSENT]: 'nothing to reach: one run at a time',
  [MACHINE]: '**not held**, where the machine allows it',
};

const cellOf = (attempt: Attempt, form: Form): string =>
  CELLS[attempt.walls[form]] ?? attempt.walls[form];

const isOpen = (attempt: Attempt, form: Form): boolean =>
  [OPEN, MACHINE].includes(attempt.walls[form]);

const areas = [...new Set(ATTEMPTS.map(({ area }) => area))];
const attemptsIn = (area: string): readonly Attempt[] =>
  ATTEMPTS.filter((attempt) => attempt.area === area);

const summaryOf = (area: string): string =>
  row([
    `[${area}](#${area.replaceAll(' ', '-')})`,
    ...forms.map((form) => {
      const all = attemptsIn(area);
      const open = all.filter((attempt) => isOpen(attempt, form));
      return open.length === 0
        ? `held (${all.length})`
        : `**${open.length} of ${all.length} not held**`;
    }),
  ]);

/** `docs/hostile-run.md`. */
export const hostilePage = (): string =>
  [
    '# A hostile run',
    '',
    `A run executes code of whoever may queue it. These are ${ATTEMPTS.length} attempts of such code to reach what is not its own, and what holds each of them in each form of the built-in runner. \`${TEST}\` makes all of them in every form, with a stand-in for the tool, and with the provider script and the module of a real terraform; it fails if one is held that is listed as not held here, or the other way round. A last form, in which runs have the rights of root and no sandbox, shows that the attempts reach what they want where nothing holds them. An [agent](../deploy/agent/README.md) executes runs with the same code in the same sandbox; the test makes those attempts that fit into one plan with an agent of root and of an ordinary user as well, and all of them are held. The last column is an agent in its container as [its README](../deploy/agent/README.md#in-a-container) starts it: \`${CONTAINER_TEST}\`.`,
    '',
    'What is not held is open to everybody who may queue a run, also a speculative plan of a pull request: use that form only where all of them are trusted, or have runs executed by agents elsewhere.',
    '',
    'This page is written from the attempts: `npx vitest run --project unit services/standalone/test/hostile-page.test.ts -u`. Under load, and with other organizations beside it: `npm run chaos -- hostile`.',
    '',
    ...heading('area'),
    ...areas.map(summaryOf),
    ...areas.flatMap((area) => [
      '',
      `## ${area[0]?.toUpperCase()}${area.slice(1)}`,
      '',
      ...heading('a run tries to reach'),
      ...attemptsIn(area).map((attempt) =>
        row([attempt.name, ...forms.map((form) => cellOf(attempt, form))]),
      ),
    ]),
    '',
  ].join('\n');

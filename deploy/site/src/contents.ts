/** Which pages the site has, and under which of the four kinds of documentation each is listed. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url));

/** Folders without pages, or with pages of others. */
const WITHOUT_PAGES = /(?:^|\/)(?:node_modules|data|testdata|dist|tools|\.[^/]+)(?:\/|$)/;

/** Paths from the root of the repository. */
export const PAGES: readonly string[] = globSync('**/*.md', {
  cwd: REPOSITORY,
  exclude: (path) => WITHOUT_PAGES.test(path),
})
  // Text of the npm package, which is read there.
  .filter((path) => path !== 'deploy/release/package-readme.md')
  .sort();

/** Lessons that lead a newcomer from nothing to something that works. */
const TUTORIALS = [
  'README.md',
  'docs/tutorials/certificates.md',
  'docs/tutorials/terraform.md',
  'docs/tutorials/push.md',
  'libs/testcontainers/README.md',
];

/** Pages for looking something up. */
const REFERENCE = [
  'docs/command-line.md',
  'docs/configuration.md',
  'docs/errors.md',
  'docs/ports.md',
  'docs/metrics.md',
  'docs/performance.md',
  'docs/guarantees.md',
  'docs/advisories.md',
  'docs/glossary.md',
  'CHANGELOG.md',
];

/** Why it is as it is. */
const EXPLANATION = [
  'docs/architecture.md',
  'docs/edge.md',
  'docs/replication.md',
  'docs/chaos.md',
];

/** Guides outside docs/. */
const GUIDES_ELSEWHERE = [
  'deploy/kubernetes/README.md',
  'deploy/helm/README.md',
  'deploy/monitoring/README.md',
  'deploy/agent/README.md',
  'services/runner/README.md',
];

const INDEX = 'docs/README.md';

export interface SidebarItem {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly SidebarItem[];
  readonly collapsed?: boolean;
}

const PLAIN_TEXT = /`|\[([^\]]*)\]\([^)]*\)/g;

/** The README is titled by the name of the project. */
const START = 'First steps';

/** The first heading of a page. */
export const titleOf = (page: string): string => {
  const [, heading] = /^# (.+)$/m.exec(readFileSync(join(REPOSITORY, page), 'utf8')) ?? [];
  if (heading === undefined) throw new Error(`${page} has no heading`);
  return heading.replaceAll(PLAIN_TEXT, '$1');
};

/** Address of a page in the site; a README is the index of its folder. */
export const linkTo = (page: string): string =>
  `/${page.replace(/(?:^|(?<=\/))README\.md$/, '').replace(/\.md$/, '')}`;

const toItems = (pages: readonly string[]): readonly SidebarItem[] =>
  pages.map((page) => ({
    text: page === 'README.md' ? START : titleOf(page),
    link: linkTo(page),
  }));

const inFolder = (folder: string): readonly string[] =>
  PAGES.filter((page) => dirname(page) === folder && page !== `${folder}/README.md`);

const toGroup = (text: string, pages: readonly string[]): SidebarItem => ({
  text,
  collapsed: true,
  items: toItems(pages),
});

/**
 * The four kinds, and what developers read. A page of docs/ that is named in none of the lists is a guide,
 * which most are.
 */
export const toSidebar = (): readonly SidebarItem[] => {
  const named = new Set([INDEX, ...TUTORIALS, ...REFERENCE, ...EXPLANATION]);
  const guides = [...inFolder('docs').filter((page) => !named.has(page)), ...GUIDES_ELSEWHERE];
  const listed = new Set([...named, ...guides]);
  const developers = PAGES.filter(
    (page) => !listed.has(page) && (!page.startsWith('docs/') || page === 'docs/README.md'),
  );
  return [
    { text: 'All questions', link: linkTo(INDEX) },
    { text: 'Tutorials', items: toItems(TUTORIALS) },
    {
      text: 'How-to guides',
      items: [
        ...toItems(guides),
        toGroup('Runbooks', ['docs/runbooks/README.md', ...inFolder('docs/runbooks')]),
      ],
    },
    {
      text: 'Reference',
      items: [...toItems(REFERENCE), toGroup('Differences', inFolder('docs/divergences'))],
    },
    {
      text: 'Explanation',
      items: [
        ...toItems(EXPLANATION),
        toGroup('Decisions', ['docs/decisions/README.md', ...inFolder('docs/decisions')]),
      ],
    },
    { text: 'Develop', collapsed: true, items: toItems(developers) },
  ];
};

/**
 * The address for a link in a page: of another page of the site, elsewhere, or undefined for a file of the
 * repository that the site does not have.
 * @throws Error if the repository does not have it either
 */
export const resolveLink = (page: string, target: string): string | undefined => {
  if (/^(?:[a-z]+:|#)/.test(target)) return target;
  const [path = '', anchor] = target.split('#');
  const file = join(dirname(page), path);
  if (!existsSync(join(REPOSITORY, file)))
    throw new Error(`${page} links to ${target}, which is missing`);
  const readme = join(file, 'README.md');
  const found = [file, readme].find((candidate) => PAGES.includes(candidate));
  return found && `${linkTo(found)}${anchor === undefined ? '' : `#${anchor}`}`;
};

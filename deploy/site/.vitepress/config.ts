/** The site of the documentation: every page of the repository, built from the files as they are. */
import { relative } from 'node:path';
import { PAGES, REPOSITORY, resolveLink, toSidebar } from '../src/contents.ts';

interface Token {
  readonly type: string;
  readonly children: Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

interface Markdown {
  readonly core: {
    readonly ruler: {
      push(
        name: string,
        rule: (state: { readonly tokens: Token[]; readonly env: Environment }) => void,
      ): void;
    };
  };
}

/** `realPath` is the source file. The search index sets `path` instead, and pages also have their rewritten path. */
interface Environment {
  readonly realPath?: string;
  readonly path: string;
}

/** Files of the repository that are no pages are named, not linked to. */
const resolveLinks = (page: string, tokens: Token[]): void => {
  let isDropped = false;
  for (let n = 0; n < tokens.length; n += 1) {
    const token = tokens[n] as Token;
    if (token.type === 'link_open') {
      const link = resolveLink(page, decodeURI(token.attrGet('href') ?? ''));
      isDropped = link === undefined;
      if (link !== undefined) token.attrSet('href', link);
    }
    if (isDropped && (token.type === 'link_open' || token.type === 'link_close')) {
      isDropped = token.type === 'link_open';
      tokens.splice(n, 1);
      n -= 1;
    }
  }
};

const isPage = new Set(PAGES);

export default {
  title: 'Keelson',
  description: 'Documentation of Keelson, a self-hosted control plane for infrastructure teams.',
  srcDir: REPOSITORY,
  outDir: new URL('../dist', import.meta.url).pathname,
  cacheDir: new URL('../node_modules/.cache/vitepress', import.meta.url).pathname,
  srcExclude: [
    '**/data/**',
    '**/testdata/**',
    '**/dist/**',
    '**/tools/**',
    'deploy/release/package-readme.md',
  ],
  rewrites: (page: string) =>
    isPage.has(page) ? page.replace(/(?:^|(?<=\/))README\.md$/, 'index.md') : page,
  // Addresses of the reader's own server.
  ignoreDeadLinks: 'localhostLinks',
  // A build sends no request to another host and never reads the history.
  lastUpdated: false,
  markdown: {
    html: false,
    config: (md: Markdown) => {
      md.core.ruler.push('links-of-the-repository', ({ tokens, env }) => {
        for (const { children } of tokens)
          if (children) resolveLinks(relative(REPOSITORY, env.realPath ?? env.path), children);
      });
      // Templates that pages show, such as `{{.Username}}`, are not expressions of the site.
      md.core.ruler.push('code-as-it-is', ({ tokens }) => {
        for (const { children } of tokens)
          for (const token of children ?? [])
            if (token.type === 'code_inline') token.attrSet('v-pre', '');
      });
    },
  },
  // The index of the search is one chunk, which grows with the pages.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    sidebar: toSidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
    nav: [{ text: 'Questions', link: '/docs/' }],
  },
};

/**
 * `/docs/<api>`: the OpenAPI document of that API as a page, with search, and a page for each capability and each
 * operation. On a narrow screen it is one page, whose capabilities open and close.
 */
import 'rapidoc';
import './docs.css';

interface Document {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly tags: readonly string[]; readonly summary: string }>>
    >
  >;
}

interface RapiDoc extends HTMLElement {
  loadSpec(document: object): Promise<void>;
}

/** The anchor by which RapiDoc shows an operation. */
const anchorOf = (method: string, path: string): string =>
  `#${method}-${path.replaceAll(/[\s#:?&={}]/g, '-')}`;

/** The operations of a capability, in Markdown. */
const operationsOf = (name: string, { paths }: Document): string =>
  Object.entries(paths)
    .flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, { tags }]) => tags.includes(name))
        .map(
          ([method, { summary }]) =>
            `- [\`${method.toUpperCase()} ${path}\`](${anchorOf(method, path)}) ${summary}`,
        ),
    )
    .join('\n');

/** The document with a page for each capability. */
const withPages = (document: Document): Document => ({
  ...document,
  tags: document.tags.map((tag) => ({ ...tag, description: operationsOf(tag.name, document) })),
});

const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const isNarrow = matchMedia('(width < 48rem)').matches;
const reference = document.querySelector<RapiDoc>('rapi-doc');
const apis = document.querySelector('nav');
reference?.setAttribute('theme', dark ? 'dark' : 'light');
reference?.setAttribute('primary-color', dark ? '#76b4ff' : '#0f5ba8');
apis?.querySelector(`a[href="${location.pathname}"]`)?.setAttribute('aria-current', 'page');
if (isNarrow) {
  // The bar with the operations and the other APIs is not shown there.
  reference?.setAttribute('render-style', 'view');
  apis?.removeAttribute('slot');
}
const answer = await fetch(`/openapi/${location.pathname.split('/')[2]}.json`);
const described = (await answer.json()) as Document;
await reference?.loadSpec(isNarrow ? described : withPages(described));

import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useTitle } from '../components/page.tsx';
import {
  type ApiDescription,
  type ListedOperation,
  listOperations,
  searchOperations,
  tagAnchor,
} from './api-description.ts';
import { OperationView } from './operation-view.tsx';

const APIS = [
  ['workspace', 'Workspaces'],
  ['pki', 'Certificate authority'],
  ['sys', 'Administration'],
] as const;

const subscribe = (onChange: () => void): (() => void) => {
  addEventListener('hashchange', onChange);
  return () => removeEventListener('hashchange', onChange);
};

const useAnchor = (): string =>
  useSyncExternalStore(subscribe, () => decodeURIComponent(location.hash.slice(1)));

const OperationList = (props: { operations: readonly ListedOperation[]; selected?: string }) => (
  <ul className="operations">
    {props.operations.map(({ anchor, methods, path, operation }) => (
      <li key={anchor}>
        <a href={`#${anchor}`} aria-current={anchor === props.selected ? 'page' : undefined}>
          <code>
            <b>{methods.join(', ')}</b> {path}
          </code>
          <span className="under">{operation.summary}</span>
        </a>
      </li>
    ))}
  </ul>
);

const operationsOf = (operations: readonly ListedOperation[], tag: string) =>
  operations.filter(({ operation: { tags = [] } }) => tags.includes(tag));

/** The capabilities, of which the one that is shown lists its operations; or the operations that a search finds. */
const Contents = (props: {
  api: ApiDescription;
  operations: readonly ListedOperation[];
  anchor: string;
  openTag: string | undefined;
}) => {
  const { api, operations, anchor, openTag } = props;
  const [text, setText] = useState('');
  const found = text.trim() === '' ? undefined : searchOperations(operations, text.trim());
  return (
    <>
      <label>
        Search operations
        <input type="search" value={text} onChange={({ target }) => setText(target.value)} />
      </label>
      <p role="status" className="hint">
        {found !== undefined &&
          `${found.length} of ${operations.length} operations contain these words.`}
      </p>
      {found !== undefined && <OperationList operations={found} selected={anchor} />}
      {found === undefined && (
        <ul className="capabilities">
          {api.tags.map(({ name }) => (
            <li key={name}>
              <a
                href={`#${tagAnchor(name)}`}
                aria-current={tagAnchor(name) === anchor ? 'page' : undefined}
              >
                {name}
              </a>
              {name === openTag && (
                <OperationList operations={operationsOf(operations, name)} selected={anchor} />
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
};

const Overview = ({ name, api }: { name: string; api: ApiDescription }) => (
  <>
    <h1 tabIndex={-1}>{api.info.title}</h1>
    <p>{api.info.description}</p>
    <p>
      All paths begin with <code>{api.servers[0]?.url}</code>. The same as a document for programs:{' '}
      <a href={`/openapi/${name}.json`}>/openapi/{name}.json</a>.
    </p>
    <h2>Capabilities</h2>
    <ul>
      {api.tags.map((tag) => (
        <li key={tag.name}>
          <a href={`#${tagAnchor(tag.name)}`}>{tag.name}</a>
        </li>
      ))}
    </ul>
  </>
);

/** The reference of one API. The part of the address after `#` names an operation, a capability or nothing. */
export const Reference = ({ name, api }: { name: string; api: ApiDescription }) => {
  const anchor = useAnchor();
  const operations = useMemo(() => listOperations(api), [api]);
  const listed = operations.find((one) => one.anchor === anchor);
  const tag =
    listed?.operation.tags?.[0] ?? api.tags.find((one) => tagAnchor(one.name) === anchor)?.name;
  const main = useRef<HTMLElement>(null);
  const shown = useRef(anchor);
  useTitle(listed?.operation.summary ?? tag ?? api.info.title);
  useEffect(() => {
    if (shown.current === anchor) return;
    shown.current = anchor;
    main.current?.querySelector('h1')?.focus();
    main.current?.scrollIntoView();
  }, [anchor]);
  return (
    <>
      <header className="top">
        <a href="/ui/" className="brand">
          Keelson
        </a>
        <nav aria-label="APIs" className="apis">
          {APIS.map(([one, title]) => (
            <a key={one} href={`/docs/${one}`} aria-current={one === name ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </header>
      <div className="reference">
        <nav aria-label="Operations" className="contents">
          <Contents api={api} operations={operations} anchor={anchor} openTag={tag} />
        </nav>
        <main ref={main}>
          {listed !== undefined && <OperationView key={anchor} listed={listed} api={api} />}
          {listed === undefined && tag !== undefined && (
            <>
              <nav aria-label="Place" className="hint">
                <a href="#">{api.info.title}</a>
              </nav>
              <h1 tabIndex={-1}>{tag}</h1>
              <OperationList operations={operationsOf(operations, tag)} />
            </>
          )}
          {tag === undefined && <Overview name={name} api={api} />}
        </main>
      </div>
    </>
  );
};

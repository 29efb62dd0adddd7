import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { Anchor } from '../components/anchor.tsx';
import { Input, Label } from '../components/fields.tsx';
import { MainContent } from '../components/main-content.tsx';
import { useTitle } from '../components/page.tsx';
import { CardHeading, Code, Hint, PageHeading } from '../components/text.tsx';
import barStyles from '../components/top-bar.module.css';
import { TopBar } from '../components/top-bar.tsx';
import {
  type ApiDescription,
  type ListedOperation,
  listOperations,
  searchOperations,
  tagAnchor,
} from './api-description.ts';
import { OperationView } from './operation-view.tsx';
import styles from './reference.module.css';

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
  <ul className={styles['operations']}>
    {props.operations.map(({ anchor, methods, path, operation }) => (
      <li key={anchor}>
        <Anchor
          className={styles['link']}
          href={`#${anchor}`}
          aria-current={anchor === props.selected ? 'page' : undefined}
        >
          <Code>
            <b className={styles['method']}>{methods.join(', ')}</b> {path}
          </Code>
          <span className={styles['summary']}>{operation.summary}</span>
        </Anchor>
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
      <Label>
        Search operations
        <Input type="search" value={text} onChange={({ target }) => setText(target.value)} />
      </Label>
      <Hint role="status">
        {found !== undefined &&
          `${found.length} of ${operations.length} operations contain these words.`}
      </Hint>
      {found !== undefined && <OperationList operations={found} selected={anchor} />}
      {found === undefined && (
        <ul className={styles['capabilities']}>
          {api.tags.map(({ name }) => (
            <li key={name}>
              <Anchor
                className={styles['link']}
                href={`#${tagAnchor(name)}`}
                aria-current={tagAnchor(name) === anchor ? 'page' : undefined}
              >
                {name}
              </Anchor>
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
    <PageHeading className={styles['heading']} tabIndex={-1}>
      {api.info.title}
    </PageHeading>
    <p>{api.info.description}</p>
    <p>
      All paths begin with <Code>{api.servers[0]?.url}</Code>. The same as a document for programs:{' '}
      <Anchor href={`/openapi/${name}.json`}>/openapi/{name}.json</Anchor>.
    </p>
    <CardHeading>Capabilities</CardHeading>
    <ul>
      {api.tags.map((tag) => (
        <li key={tag.name}>
          <Anchor href={`#${tagAnchor(tag.name)}`}>{tag.name}</Anchor>
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
      <TopBar>
        <Anchor href="/ui/" className={barStyles['brand']}>
          Keelson
        </Anchor>
        <nav aria-label="APIs" className={styles['apis']}>
          {APIS.map(([one, title]) => (
            <Anchor
              key={one}
              className={styles['api']}
              href={`/docs/${one}`}
              aria-current={one === name ? 'page' : undefined}
            >
              {title}
            </Anchor>
          ))}
        </nav>
      </TopBar>
      <div className={styles['reference']}>
        <nav aria-label="Operations" className={styles['contents']}>
          <Contents api={api} operations={operations} anchor={anchor} openTag={tag} />
        </nav>
        <MainContent ref={main} className={styles['main']}>
          {listed !== undefined && <OperationView key={anchor} listed={listed} api={api} />}
          {listed === undefined && tag !== undefined && (
            <>
              <nav aria-label="Place" className={styles['place']}>
                <Anchor href="#">{api.info.title}</Anchor>
              </nav>
              <PageHeading className={styles['heading']} tabIndex={-1}>
                {tag}
              </PageHeading>
              <OperationList operations={operationsOf(operations, tag)} />
            </>
          )}
          {tag === undefined && <Overview name={name} api={api} />}
        </MainContent>
      </div>
    </>
  );
};

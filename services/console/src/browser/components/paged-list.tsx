/** A list of the workspace API, page by page; the page is in the address. */
import { type ReactNode, useEffect } from 'react';
import { type ReadOptions, useDocument } from '../api/queries.ts';
import type { ListDocument } from '../api/workspaces-api.ts';
import { useListPage } from './list-page.ts';
import { Loaded } from './loaded.tsx';
import { Empty } from './page.tsx';
import { Pager } from './pager.tsx';

const SIZE = 50;

export function PagedList<Attributes>(props: {
  /** Its name in the address. */
  name: string;
  /** Below `/api/v2/`, without the page. */
  path: string;
  size?: number;
  live?: Pick<ReadOptions<ListDocument<Attributes>>, 'everyMs' | 'isLive'>;
  /** Shown in place of an empty list. */
  empty: ReactNode;
  children: (document: ListDocument<Attributes>) => ReactNode;
}) {
  const { path, size = SIZE } = props;
  const [page, turn] = useListPage(props.name);
  const query = useDocument<ListDocument<Attributes>>(
    `${path}${path.includes('?') ? '&' : '?'}page[size]=${size}&page[number]=${page}`,
    { ...props.live, keepPrevious: true },
  );
  const pages = query.data?.meta?.pagination?.['total-pages'];
  useEffect(() => {
    // The list may have become shorter since the address was made.
    if (!query.isPlaceholderData && pages !== undefined && page > Math.max(1, pages))
      turn(Math.max(1, pages));
  }, [page, pages, query.isPlaceholderData]);
  return (
    <Loaded query={query}>
      {(document) => (
        <>
          {document.data.length === 0 ? <Empty>{props.empty}</Empty> : props.children(document)}
          {document.meta?.pagination && (
            <Pager pagination={document.meta.pagination} onPage={turn} />
          )}
        </>
      )}
    </Loaded>
  );
}

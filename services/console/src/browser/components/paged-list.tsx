/** A list of the workspace API, page by page. */
import { type ReactNode, useState } from 'react';
import { type ReadOptions, useDocument } from '../api/queries.ts';
import type { ListDocument } from '../api/workspaces-api.ts';
import { Loaded } from './loaded.tsx';
import { Empty } from './page.tsx';
import { Pager } from './pager.tsx';

const SIZE = 50;

export function PagedList<Attributes>(props: {
  /** Below `/api/v2/`, without the page. */
  path: string;
  size?: number;
  live?: Pick<ReadOptions<ListDocument<Attributes>>, 'everyMs' | 'isLive'>;
  /** Shown in place of an empty list. */
  empty: ReactNode;
  children: (document: ListDocument<Attributes>) => ReactNode;
}) {
  const { path, size = SIZE } = props;
  const [page, setPage] = useState(1);
  const query = useDocument<ListDocument<Attributes>>(
    `${path}${path.includes('?') ? '&' : '?'}page[size]=${size}&page[number]=${page}`,
    { ...props.live, keepPrevious: true },
  );
  return (
    <Loaded query={query}>
      {(document) => (
        <>
          {document.data.length === 0 ? <Empty>{props.empty}</Empty> : props.children(document)}
          {document.meta?.pagination && (
            <Pager pagination={document.meta.pagination} onPage={setPage} />
          )}
        </>
      )}
    </Loaded>
  );
}

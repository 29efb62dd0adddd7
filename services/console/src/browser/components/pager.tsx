import type { ReactNode } from 'react';
import type { Pagination } from '../api/workspaces-api.ts';
import { Button } from './button.tsx';
import type { ListPage } from './list-page.ts';
import styles from './pager.module.css';

/** Page navigation of a list; renders nothing for a single page. */
export const Pager = (props: { pagination: Pagination; onPage: (page: number) => void }) => {
  const { 'current-page': page, 'total-pages': pages, 'total-count': total } = props.pagination;
  if (pages <= 1) return null;
  return (
    <nav className={styles['pager']} aria-label="Pages of the list">
      <Button disabled={page <= 1} onClick={() => props.onPage(page - 1)}>
        Previous
      </Button>
      <span>
        Page {page.toLocaleString()} of {pages.toLocaleString()} · {total.toLocaleString()} in all
      </span>
      <Button disabled={page >= pages} onClick={() => props.onPage(page + 1)}>
        Next
      </Button>
    </nav>
  );
};

/**
 * Pages of a list that was read as a whole.
 * @param listPage of the address, or a state where the list is part of another one
 * @returns the rows of the current page, and the navigation to show below them
 */
export const usePages = <Row,>(
  all: readonly Row[],
  size: number,
  listPage: ListPage,
): { readonly rows: readonly Row[]; readonly pager: ReactNode } => {
  const [wanted, turn] = listPage;
  const pages = Math.max(1, Math.ceil(all.length / size));
  // The list may have become shorter since the page was chosen.
  const page = Math.min(wanted, pages);
  const pagination = { 'current-page': page, 'total-pages': pages, 'total-count': all.length };
  return {
    rows: all.slice((page - 1) * size, page * size),
    pager: <Pager pagination={pagination} onPage={turn} />,
  };
};

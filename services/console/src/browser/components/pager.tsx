import type { Pagination } from '../api/workspaces-api.ts';

/** Page navigation of a list; renders nothing for a single page. */
export const Pager = (props: { pagination: Pagination; onPage: (page: number) => void }) => {
  const { 'current-page': page, 'total-pages': pages, 'total-count': total } = props.pagination;
  if (pages <= 1) return null;
  return (
    <nav className="pager" aria-label="Pages of the list">
      <button type="button" disabled={page <= 1} onClick={() => props.onPage(page - 1)}>
        Previous
      </button>
      <span>
        Page {page.toLocaleString()} of {pages.toLocaleString()} · {total.toLocaleString()} in all
      </span>
      <button type="button" disabled={page >= pages} onClick={() => props.onPage(page + 1)}>
        Next
      </button>
    </nav>
  );
};

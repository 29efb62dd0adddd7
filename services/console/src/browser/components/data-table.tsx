import { type ReactNode, useState } from 'react';
import type { ListPage } from './list-page.ts';
import { Empty } from './page.tsx';
import { usePages } from './pager.tsx';
import { PageCheckbox, RowCheckbox, type Selection } from './selection.tsx';
import { type Order, SortButton, sortedAs } from './sort-button.tsx';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** The cell that names the row. */
  readonly isName?: boolean;
  /** Whether the cell holds buttons, which get no label when rows are stacked. */
  readonly isActions?: boolean;
  /** Whether its values are short and are not broken into lines, such as times and addresses. */
  readonly isUnbroken?: boolean;
  /** The field by which the server sorts, if it does so by this column. */
  readonly sort?: string;
  /** Whether the first press of the head sorts from the greatest, as for times. */
  readonly isGreatestFirst?: boolean;
}

/** Rows drawn at once; further ones are on further pages. */
const ROWS_SHOWN = 50;

const Head = <Row,>(props: { column: Column<Row>; order: Order | undefined }) => {
  const { title, isActions, sort, isGreatestFirst } = props.column;
  if (sort !== undefined && props.order !== undefined)
    return (
      <th scope="col" aria-sort={sortedAs(props.order, sort)}>
        <SortButton
          title={title}
          field={sort}
          isGreatestFirst={isGreatestFirst === true}
          order={props.order}
        />
      </th>
    );
  return (
    <th scope="col">{isActions === true ? <span className="unseen">{title}</span> : title}</th>
  );
};

const Cell = <Row,>({ column, row }: { column: Column<Row>; row: Row }) => {
  const { title, cell, isName, isActions, isUnbroken } = column;
  const shared = {
    ...(isActions !== true && { 'data-label': title }),
    ...(isActions === true && { className: 'actions' }),
    ...(isUnbroken === true && { className: 'unbroken' }),
  };
  return isName === true ? (
    <th scope="row" {...shared}>
      {cell(row)}
    </th>
  ) : (
    <td {...shared}>{cell(row)}</td>
  );
};

/** A table whose rows become stacks of labelled values on a narrow screen. */
export function DataTable<Row>(props: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Shown in place of a table without rows. */
  empty?: ReactNode;
  /** The order in which the server has sorted the rows, for a table that can be sorted by its heads. */
  order?: Order;
  /** The page in the address, for the main table of a page. */
  listPage?: ListPage;
  /** The rows that are selected, for a table whose rows can be. */
  selection?: Selection<Row> | undefined;
}) {
  const { columns, keyOf, label, order, selection } = props;
  const ownPage = useState(1);
  const { rows, pager } = usePages(props.rows, ROWS_SHOWN, props.listPage ?? ownPage);
  if (props.empty !== undefined && rows.length === 0) return <Empty>{props.empty}</Empty>;
  return (
    <>
      <table className="stacking" aria-label={label}>
        <thead>
          <tr>
            {selection && (
              <th scope="col" className="select">
                <PageCheckbox rows={rows} keyOf={keyOf} selection={selection} />
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.title} column={column} order={order} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              className={selection?.chosen.has(keyOf(row)) === true ? 'chosen' : undefined}
            >
              {selection && (
                <td className="select">
                  <RowCheckbox row={row} id={keyOf(row)} selection={selection} />
                </td>
              )}
              {columns.map((column) => (
                <Cell key={column.title} column={column} row={row} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {pager}
    </>
  );
}

/** A vertical list of names and values. */
export const FactList = (props: { facts: readonly (readonly [string, ReactNode])[] }) => (
  <dl className="facts">
    {props.facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);

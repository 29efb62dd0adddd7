import { type ReactNode, useState } from 'react';
import { classes } from './classes.ts';
import type { ListPage } from './list-page.ts';
import { Empty } from './page.tsx';
import { usePages } from './pager.tsx';
import { PageCheckbox, RowCheckbox, type Selection } from './selection.tsx';
import { type Order, SortButton, sortedAs } from './sort-button.tsx';
import styles from './table.module.css';
import { Unseen } from './text.tsx';

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
      <th
        scope="col"
        className={classes(styles['head'], styles['sortable'])}
        aria-sort={sortedAs(props.order, sort)}
      >
        <SortButton
          title={title}
          field={sort}
          isGreatestFirst={isGreatestFirst === true}
          order={props.order}
        />
      </th>
    );
  return (
    <th scope="col" className={styles['head']}>
      {isActions === true ? <Unseen>{title}</Unseen> : title}
    </th>
  );
};

const Cell = <Row,>({ column, row }: { column: Column<Row>; row: Row }) => {
  const { title, cell, isName, isActions, isUnbroken } = column;
  const shared = {
    ...(isActions !== true && { 'data-label': title }),
    className: classes(
      isName === true ? styles['name'] : styles['cell'],
      isActions === true && styles['actions'],
      isUnbroken === true && styles['unbroken'],
    ),
  };
  return isName === true ? (
    <th scope="row" {...shared}>
      {cell(row)}
    </th>
  ) : (
    <td {...shared}>
      {isActions === true ? <div className={styles['buttons']}>{cell(row)}</div> : cell(row)}
    </td>
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
      <table className={classes(styles['table'], styles['stacking'])} aria-label={label}>
        <thead className={styles['heads']}>
          <tr className={styles['head-row']}>
            {selection && (
              <th scope="col" className={classes(styles['head'], styles['select'])}>
                <PageCheckbox rows={rows} keyOf={keyOf} selection={selection} />
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.title} column={column} order={order} />
            ))}
          </tr>
        </thead>
        <tbody className={styles['body']}>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              className={classes(
                styles['row'],
                selection?.chosen.has(keyOf(row)) === true && styles['chosen'],
              )}
            >
              {selection && (
                <td className={classes(styles['cell'], styles['select'])}>
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

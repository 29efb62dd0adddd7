import type { ReactNode } from 'react';
import { Empty } from './page.tsx';
import { usePages } from './pager.tsx';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** The cell that names the row. */
  readonly isName?: boolean;
  /** Whether the cell holds buttons, which get no label when rows are stacked. */
  readonly isActions?: boolean;
  /** Whether its values are short and are not broken into lines, such as times and addresses. */
  readonly isUnbroken?: boolean;
}

/** Rows drawn at once; further ones are on further pages. */
const ROWS_SHOWN = 50;

/** A table whose rows become stacks of labelled values on a narrow screen. */
export function DataTable<Row>(props: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Shown in place of a table without rows. */
  empty?: ReactNode;
}) {
  const { columns, keyOf, label } = props;
  const { rows, pager } = usePages(props.rows, ROWS_SHOWN);
  if (props.empty !== undefined && rows.length === 0) return <Empty>{props.empty}</Empty>;
  return (
    <>
      <table className="stacking" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ title, isActions }) => (
              <th scope="col" key={title}>
                {isActions === true ? <span className="unseen">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ title, cell, isName, isActions, isUnbroken }) => {
                const shared = {
                  key: title,
                  ...(isActions !== true && { 'data-label': title }),
                  ...(isActions === true && { className: 'actions' }),
                  ...(isUnbroken === true && { className: 'unbroken' }),
                };
                return isName === true ? (
                  <th scope="row" {...shared} key={title}>
                    {cell(row)}
                  </th>
                ) : (
                  <td {...shared} key={title}>
                    {cell(row)}
                  </td>
                );
              })}
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

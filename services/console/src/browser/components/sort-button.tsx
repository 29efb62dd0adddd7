/** The head of a column by which the server sorts a list. */

/** The order of a list: the name of a field, after "-" from its greatest value. */
import { Button } from './button.tsx';
import styles from './sort-button.module.css';
export interface Order {
  readonly by: string;
  readonly onChange: (by: string) => void;
}

const reverse = (field: string): string => `-${field}`;

/** The state of a column for `aria-sort`. */
export const sortedAs = ({ by }: Order, field: string): 'ascending' | 'descending' | 'none' => {
  if (by === field) return 'ascending';
  return by === reverse(field) ? 'descending' : 'none';
};

/** Sorts by the column, and when pressed again in the other direction. */
export const SortButton = (props: {
  title: string;
  field: string;
  isGreatestFirst: boolean;
  order: Order;
}) => {
  const { title, field, isGreatestFirst, order } = props;
  const orders = [field, reverse(field)] as const;
  const [first, second] = isGreatestFirst ? orders.toReversed() : orders;
  return (
    <Button
      className={styles['sort']}
      onClick={() => order.onChange((order.by === first ? second : first) ?? field)}
    >
      {title}
    </Button>
  );
};

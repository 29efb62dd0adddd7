import type { ComponentProps } from 'react';
import styles from './plain-list.module.css';

/** A list without marks; `isOrdered` where the order says something. */
export const PlainList = ({
  isOrdered = false,
  ...rest
}: Omit<ComponentProps<'ul'> & ComponentProps<'ol'>, 'className' | 'ref'> & {
  isOrdered?: boolean;
}) =>
  isOrdered ? (
    <ol {...rest} className={styles['plain-list']} />
  ) : (
    <ul {...rest} className={styles['plain-list']} />
  );

/** An item with its buttons. */
export const ItemWithButtons = (props: Omit<ComponentProps<'li'>, 'className'>) => (
  <li {...props} className={styles['with-buttons']} />
);

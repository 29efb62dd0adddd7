/** The filters of a list. */
import type { ComponentProps } from 'react';
import { Button } from './button.tsx';
import styles from './filter-form.module.css';

export const FilterForm = (props: Omit<ComponentProps<'form'>, 'className' | 'role'>) => (
  <form {...props} role="search" className={styles['filter-form']} />
);

/** The button that applies the filters which are typed. */
export const SearchButton = () => (
  <Button type="submit" className={styles['button']}>
    Search
  </Button>
);

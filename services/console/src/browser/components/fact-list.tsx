import type { ReactNode } from 'react';
import styles from './fact-list.module.css';

/** A vertical list of names and values. */
export const FactList = (props: { facts: readonly (readonly [string, ReactNode])[] }) => (
  <dl className={styles['facts']}>
    {props.facts.map(([name, value]) => (
      <div key={name} className={styles['fact']}>
        <dt className={styles['name']}>{name}</dt>
        <dd className={styles['value']}>{value}</dd>
      </div>
    ))}
  </dl>
);

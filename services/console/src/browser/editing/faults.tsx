/** The faults that the server has found in single fields, each next to its field. */
import { createContext, useContext } from 'react';
import styles from './faults.module.css';

/** Texts by the name of the field. */
export type Faults = ReadonlyMap<string, string>;

export const FaultsOfForm = createContext<Faults>(new Map());

/** The fault of one field, in the form whose last attempt to save it was refused for it. */
export const Fault = ({ of }: { of: string }) => {
  const text = useContext(FaultsOfForm).get(of);
  return text === undefined ? null : (
    <span role="alert" className={styles['fault']}>
      {text}
    </span>
  );
};

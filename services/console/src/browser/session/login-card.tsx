import type { ReactNode } from 'react';
import cardStyles from '../components/card.module.css';
import { classes } from '../components/classes.ts';
import { PageHeading } from '../components/text.tsx';
import styles from './login-card.module.css';

/** A page for somebody who is not signed in. */
export const LoginCard = (props: { title: ReactNode; children: ReactNode }) => (
  <main className={classes(cardStyles['card'], styles['login-card'])}>
    <PageHeading className={styles['title']}>{props.title}</PageHeading>
    {props.children}
  </main>
);

/** Ways in that exclude each other, each as wide as the page. */
export const Ways = ({ children }: { children: ReactNode }) => (
  <div className={styles['ways']}>{children}</div>
);

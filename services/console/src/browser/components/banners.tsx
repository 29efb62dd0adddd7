/** Lines above a page that somebody has to know of. */
import type { ReactNode } from 'react';
import styles from './banners.module.css';

/** The banners, which scroll where there are many. */
export const Banners = (props: { label: string; children: ReactNode }) => (
  <section className={styles['banners']} aria-label={props.label} tabIndex={0}>
    {props.children}
  </section>
);

/** One banner. */
export const BannerLine = (props: {
  title: string;
  text: string;
  /** The direction of its text, for one that a person has written. */
  dir?: 'auto';
  link?: ReactNode;
  action?: ReactNode;
}) => (
  <section className={styles['banner']} role="status">
    <div className={styles['words']}>
      <strong className={styles['title']} dir={props.dir}>
        {props.title}
      </strong>
      <p className={styles['text']} dir={props.dir}>
        {props.text}
      </p>
      {props.link}
    </div>
    {props.action}
  </section>
);

/** A line below many banners. */
export const BannersEnd = ({ children }: { children: ReactNode }) => (
  <p className={styles['end']}>{children}</p>
);

/** Lines at the end of the window that somebody has to know of. */
import { type ReactNode, useState } from 'react';
import styles from './banners.module.css';
import { Button } from './button.tsx';
import { classes } from './classes.ts';

/** The place of banners, at the end of the window, where they move nothing when they come. */
export const Announcements = ({ children }: { children: ReactNode }) => (
  <div className={styles['announcements']}>{children}</div>
);

/** The banners, which scroll where there are many. */
export const Banners = (props: { label: string; children: ReactNode }) => (
  <section className={styles['banners']} aria-label={props.label} tabIndex={0}>
    {props.children}
  </section>
);

/** One banner, in one line that opens. */
export const BannerLine = (props: {
  title: string;
  text: string;
  /** The direction of its text, for one that a person has written. */
  dir?: 'auto';
  link?: ReactNode;
  action?: ReactNode;
}) => {
  const [isOpen, setOpen] = useState(false);
  const word = isOpen ? 'Hide' : 'Show';
  return (
    <section className={classes(styles['banner'], isOpen && styles['open'])} role="status">
      <div className={styles['words']}>
        <strong dir={props.dir}>{props.title}</strong>{' '}
        <p className={styles['text']} dir={props.dir}>
          {props.text}
        </p>
      </div>
      {props.link}
      <Button
        look="plain"
        aria-expanded={isOpen}
        aria-label={`${word} ${props.title}`}
        onClick={() => setOpen(!isOpen)}
      >
        {word}
      </Button>
      {props.action}
    </section>
  );
};

/** A line below many banners. */
export const BannersEnd = ({ children }: { children: ReactNode }) => (
  <p className={styles['end']}>{children}</p>
);

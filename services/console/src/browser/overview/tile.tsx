/** A part of the overview that is read at a glance. */
import type { ReactNode } from 'react';
import { CardHeading } from '../components/text.tsx';
import styles from './tile.module.css';

export const Tiles = ({ children }: { children: ReactNode }) => (
  <div className={styles['tiles']}>{children}</div>
);

export const Tile = (props: { title: string; children: ReactNode }) => (
  <section className={styles['tile']}>
    <CardHeading className={styles['title']}>{props.title}</CardHeading>
    {props.children}
  </section>
);

/** The number or the state of a tile. */
export const TileFigure = ({ children }: { children: ReactNode }) => (
  <p className={styles['figure']}>{children}</p>
);

export const TileText = ({ children }: { children: ReactNode }) => (
  <p className={styles['text']}>{children}</p>
);

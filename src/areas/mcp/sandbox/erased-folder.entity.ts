import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** The folder of an erased user, which is to be deleted on every machine that has it. */
@Entity('erased_folders')
export class ErasedFolderEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: string;

  /** Its name, a hash. */
  @Column({ type: 'text' })
  folder!: string;
}

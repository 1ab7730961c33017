import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** The folder of an erased user, for migrations and the drift check. `ErasedFolders` has the statements. */
@Entity('erased_folders')
export class ErasedFolderEntity {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  id!: string;

  /** Its name, a hash. */
  @Column({ type: 'text' })
  folder!: string;
}

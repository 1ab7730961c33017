import { Module } from '@nestjs/common';
import { ConsoleController } from './console.controller.js';
import { ConsoleFiles } from './console-files.js';

/** The browser console, on the ports of both profiles. */
@Module({
  controllers: [ConsoleController],
  providers: [{ provide: ConsoleFiles, useFactory: () => new ConsoleFiles() }],
})
export class ConsoleModule {}

import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

serveStdio(() => {
    const server = new McpServer({ name: 'echo', version: '1.0.0' });
    server.registerTool(
        'echo',
        { description: 'Repeats a text', inputSchema: z.object({ text: z.string() }) },
        ({ text }) => ({ content: [{ type: 'text', text }] })
    );
    return server;
});

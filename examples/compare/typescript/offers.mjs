import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const mimeType = 'text/plain';

serveStdio(() => {
    const server = new McpServer({ name: 'house', version: '1.0.0' });
    server.registerPrompt(
        'review',
        {
            description: 'Asks for a review of code',
            argsSchema: z.object({ code: z.string().describe('The code to look at') })
        },
        ({ code }) => ({
            messages: [{ role: 'user', content: { type: 'text', text: `Review this code:\n${code}` } }]
        })
    );
    server.registerResource(
        'colours',
        'paint://colours',
        { description: 'Colours of the house', mimeType },
        uri => ({ contents: [{ uri: uri.href, mimeType, text: 'red, white' }] })
    );
    server.registerResource(
        'wall',
        new ResourceTemplate('paint://walls/{number}', { list: undefined }),
        { description: 'One wall of the house', mimeType },
        (uri, { number }) => {
            if (!['1', '2', '3', '4'].includes(number)) throw new Error(`no such wall: ${number}`);
            return { contents: [{ uri: uri.href, mimeType, text: `Wall ${number} is white.` }] };
        }
    );
    return server;
});

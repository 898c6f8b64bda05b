// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/secrets.h"

#include <QObject>

#include <qt6keychain/keychain.h>

namespace tenure::ui
{
namespace
{

QString service()
{
    return QStringLiteral("tenure");
}

QString keyringProblem(const QKeychain::Job &job)
{
    return QObject::tr("The system keyring gave no answer (%1). This session will ask for the "
                       "password and forget it on exit.").arg(job.errorString());
}

} // namespace

void readSecret(const QString &profileId, QObject *context, std::function<void(SecretAnswer)> done)
{
    auto *job = new QKeychain::ReadPasswordJob(service()); // deletes itself when finished
    job->setKey(profileId);
    QObject::connect(job, &QKeychain::Job::finished, context,
        [done = std::move(done), job](QKeychain::Job *) {
            SecretAnswer answer;
            answer.found = job->error() == QKeychain::NoError;
            if (answer.found)
                answer.password = job->textData();
            else if (job->error() != QKeychain::EntryNotFound)
                answer.problem = keyringProblem(*job);
            done(answer);
        });
    job->start();
}

void writeSecret(const QString &profileId, const QString &password, QObject *context,
    std::function<void(QString)> done)
{
    auto *job = new QKeychain::WritePasswordJob(service());
    job->setKey(profileId);
    job->setTextData(password);
    QObject::connect(job, &QKeychain::Job::finished, context,
        [done = std::move(done)](QKeychain::Job *finished) {
            done(finished->error() == QKeychain::NoError ? QString() : keyringProblem(*finished));
        });
    job->start();
}

void deleteSecret(const QString &profileId)
{
    auto *job = new QKeychain::DeletePasswordJob(service());
    job->setKey(profileId);
    job->start();
}

QString environmentPassword()
{
    return qEnvironmentVariable("TENURE_PASSWORD");
}

} // namespace tenure::ui
